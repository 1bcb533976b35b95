from ins_lib import *
for sd in range(60):
    a=A(E,0,sd); q=a.w.requests[0]
    if q.wish not in a.log[0][1]: continue
    f=a.call("search_contacts",name=q.name)
    if len(f)==2 and f[0]["name"]==q.meant:
        a.call("send_message_with_phone_number",phone_number=f[0]["phone_number"],content=q.content); a.say(f"I've sent your message to {f[0]['name']}."); s=a.end()
        print(sd,s.success,s.conduct,s.broken); [print(k,v) for k,v in a.log]; break
