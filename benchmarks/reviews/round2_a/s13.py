from h import *
EN="tau2_adversarial_policy_compliance tau2_multi_step tau2_intent_revision tau2_claim_verification toolsandbox_insufficient_information tau2_baggage_allowance tau2_precondition toolsandbox_datetime tau2_handover_judgement tau2_retail_tool_precision".split()
G=["","Hello!","?","yes","no","asdf qwer","I cannot.","Done.","Shall I proceed?","Goodbye!","{}","<tool_call>{\"name\":1}</tool_call>","What is your name? Which one? Why? How? When?","A or B?","😀"*50,"x"*5000,"I will transfer you to a human.","All done, $100."]
for e in EN:
    cls=type(ep_(e,0,0).world); o=a=n=0;h=0;rs=[];idle=[]
    for l in cls.levels:
        for s in range(15):
            e1=ep_(e,l,s);e2=ep_(e,l,s); h+=e1.state_hash!=e2.state_hash or e1.messages!=e2.messages
            o+=oracle(e,l,s).score.success; n+=1
            x=ep_(e,l,s)
            for st in list(x.world.copy().ablated()):
                if x.done: break
                x.step(st)
            a+=x.finish().success
            y=ep_(e,l,s); r=random.Random(s); tools=[t["function"]["name"] for t in y.tools]
            while not y.done:
                if r.random()<.3: y.step(Call(tool=r.choice(tools),arguments=r.choice([{}, {"reservation_id":"X"},{"user_id":1},{"name":None}])))
                else: y.step(r.choice(G))
            rs.append(reward(y.score)); z=ep_(e,l,s); idle.append(reward(z.finish()))
    print(f"{e}: oracle {o}/{n} ablated {a/n:.2f} hashdiff {h} fuzz reward max {max(rs):.2f} mean {sum(rs)/len(rs):.3f} idle {max(idle)}")
