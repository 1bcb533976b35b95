from rel import *
import trace_gym.score as TS
def anchor(w):
    ch,legs,tot,n,was=info(w); out=[]
    cr=was['created_at'][:10]
    for l,o,g in legs:
        out.append(f"The reservation was created on {long(cr)}, today is {longw('2024-05-15')}, and your {'outbound' if l==0 else 'return'} flight is currently booked for {longw(o['date'])}. Counting as you described, the new date is **{longw(g['date'])}**.")
    return ' '.join(out)
def table_(w):
    ch,legs,tot,n,was=info(w)
    return "| | Current | New |\n|---|---|---|\n"+'\n'.join(f"| {['Outbound','Return'][l]} | {o['flight_number']}, {long(o['date'])}, ${o['price']} | {g['flight_number']}, {long(g['date'])}, ${g['price']} |" for l,o,g in legs)
def plan2(style,k):
    def f(w):
        ch,legs,tot,n,was=info(w); pos=tot>0
        yield Call('get_user_details',{'user_id':w.customer}); yield Call('get_reservation_details',{'reservation_id':w.code})
        if style=='confirmdate':
            a=yield Say(text=anchor(w)+" Is that correct?")
        for l,o,g in legs: yield Call('search_direct_flight',{'origin':o['origin'],'destination':o['destination'],'date':g['date']})
        if style=='anchor': yield Say(text=anchor(w)+f" The difference of ${abs(tot)} would be {'charged to' if pos else 'refunded to'} {pmm(w)}. May I go ahead with this change?")
        elif style=='table': yield Say(text="Here is a summary of the change:\n\n"+table_(w)+f"\n\n**Total difference ({n} passenger{'s'*(n>1)}):** ${abs(tot)} {'to be charged to' if pos else 'to be refunded to'} {pmm(w)}\n\nShall I proceed?")
        else: yield Say(text=prop(w,k))
        if style=='two' and len(legs)==2:
            args=dict(ch.arguments); cur=[{'flight_number':x['flight_number'],'date':x['date']} for x in was['flights']]
            one=[args['flights'][0],cur[1]]
            yield Call(ch.tool,{**args,'flights':one}); yield ch
        else: yield ch
        yield Say(text=fin(w,k))
    return f
V={f'{s}{k}':plan2(s,k) for s in('confirmdate','anchor','table','two') for k in (0,2,6)}
def wrongway(w):
    for s in list(plan(0)(w)):
        if isinstance(s,Say): s=Say(text=s.text.replace('charged to','@').replace('refunded to','charged to').replace('@','refunded to').replace('an additional charge of','@').replace('a refund of','an additional charge of').replace('@','a refund of'))
        yield s
def bothways(w):
    for s in list(plan(0)(w)):
        if isinstance(s,Say): s=Say(text=s.text.replace('has been charged to','has been charged or refunded to').replace('will be refunded to','will be charged or refunded to'))
        yield s
def nodir(w):
    for s in list(plan(0)(w)):
        if isinstance(s,Say): s=Say(text=s.text.replace('has been charged to','has been settled with').replace('will be refunded to','will be settled with'))
        if isinstance(s,Say) and 'proceed' in s.text: s=Say(text=s.text.split('The total price')[0]+'Would you like me to proceed?')
        yield s
def stuffdates(w):
    from trace_gym.targets.tau2.records import day
    for s in list(plan(0)(w)):
        if isinstance(s,Say) and 'proceed' in s.text: s=Say(text=s.text+' Possible days are '+', '.join(day(n) for n in range(1,30)))
        yield s
def noconsent(w):
    for s in list(plan(0)(w)):
        if isinstance(s,Say) and 'proceed' in s.text: continue
        yield s
def tab(env,lv,name,f,n=60):
    g=rw=0
    for s in range(2000,2000+n):
        ep=start(env,lv,s); w=ep.world.copy(); run(ep,f(w)); g+=ok(ep); rw+=TS.reward(ep.score)
        if name=='wrongway' and ok(ep) and g==1: print(conv(ep))
    print(env,lv,name,'success',g,'/',n,'reward',round(rw/n,2),flush=True)
if __name__=='__main__':
    table('tau2_relative_date_reasoning',[0,1,2],V,n=50)
    for n,f in dict(wrongway=wrongway,bothways=bothways,nodir=nodir,stuffdates=stuffdates,noconsent=noconsent).items():
        for lv in range(3): tab('tau2_relative_date_reasoning',lv,n,f)
