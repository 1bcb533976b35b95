from conn import *
def f(form):
    def g(w,f2):
        a=w.flights[f2["flight_number"]]["scheduled_arrival_time_est"]; d=date.fromisoformat(f2["date"])
        from datetime import timedelta
        d=(d+timedelta(days="+1" in a)).isoformat()
        return form.format(n=f2["flight_number"],d=d,t=h12(a))
    return g
def ag(e,form):
    w=e.start; plan=list(w.oracle())
    for s in plan[:-1]:
        if e.done: break
        e.step(s)
    e.step(Say(text=f(form)(w,plan[-2].arguments["flights"][1])))
for form in ("Done. The onward flight {n} lands on {d} at {t}.","Your reservation has been updated. {n} arrives {d}, {t}.","Done. It lands at {t} on {d}."):
    run("tau2_connection_feasibility",range(4),range(100,160),ag,form,show=1,form=form)
