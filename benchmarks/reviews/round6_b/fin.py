from h import *
for env in ["tau2_relative_date_reasoning","tau2_aggregation","tau2_connection_feasibility","toolsandbox_insufficient_information","tau2_tool_precision","tau2_itinerary_preservation","tau2_retail_multi_step","tau2_record_identification","tau2_passenger_correction","tau2_claim_verification"]:
    n=o=nc=ncs=w=0
    for sd in range(2000,2060):
        L=3 if env not in ("tau2_relative_date_reasoning","tau2_record_identification") else 2
        a=A(env,L,sd); steps=list(a.ep.world.copy().oracle())
        for s in steps:
            a.do(s)
        sc=a.end(); n+=1; o+=bool(sc.success and sc.conduct==1)
        b=A(env,L,sd)  # write first, then all says
        for s in [x for x in steps if isinstance(x,Call)]+[x for x in steps if isinstance(x,Say)]: b.do(s)
        sc=b.end(); nc+=bool(sc.success and sc.conduct==1); ncs+=bool(sc.success)
    print(env,"oracle",o,"/",n,"| all calls first, then messages: full",nc,"success",ncs,flush=True)
