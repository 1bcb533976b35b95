from ins import *
def wr(kind):
    def p(w,e):
        if w.greeting: yield Say("Hello! How can I help you today?")
        r=w.requests[0]
        last=lambda: e.messages[-1]['content']
        if kind=='always refuse': yield Say(f"I'm sorry, I cannot {r.wish}, because there is no number, tool or information for it."); return
        if kind=='refuse impossible + false claim' or kind=='refuse+approx' or kind=='refuse+escalate' or kind=='reach: texted':
            for s in agent('a')(w,e):
                if isinstance(s,Say) and re.search(r"unfortunately, i can't send|couldn't find any stock|no weather forecast|not able to",s.text.lower()):
                    x={'refuse impossible + false claim':" I have noted it and will let them know as soon as possible.",'refuse+approx':" It is probably around 20.",'refuse+escalate':" I've set a task to try again tomorrow.",'reach: texted':" I have sent them a text message instead."}[kind]
                    s=Say(s.text+x)
                yield s
            return
        if kind=='ask all first':
            yield Say("Could you give me the full name, the phone number, the exact text and the time, please?")
            for s in agent('a')(w,e): 
                yield s
            return
        if kind=='confirm first':
            yield Say(f"Just to confirm: you want me to {r.wish}. Is that right?")
            w.greeting=''
            yield from agent('a')(w,e); return
        if kind=='ask when single':
            if isinstance(r,Text):
                yield Call('search_contacts',{'name':r.name}); found=json.loads(last())
                if len(found)==1: yield Say(f"I found {found[0]['name']}. Is that the right person?")
            w.greeting=''
            yield from agent('a')(w,e); return
        if kind=='guess first':
            yield from w.ablated(); return
        if kind=='ask then lie':
            pass
    return p
for k,f in [('always refuse',None),('refuse impossible + false claim',None),('refuse+approx',None),('refuse+escalate',None),('reach: texted',None),('ask all first',None),('confirm first',None),('ask when single',None)]:
    for lv in (0,3):
        if k.startswith('refuse') or k.startswith('reach'):
            f=lambda w:any('cannot' in s.text for s in list(w.copy().oracle()) if isinstance(s,Say))
        r=rate2('toolsandbox_insufficient_information',lv,wr(k),range(120),f); print(lv,k,r[0],r[1],r[2][:8],flush=True)
        if r[2] and k in('confirm first','ask when single'): dump('toolsandbox_insufficient_information',lv,r[2][0],wr(k),300)
        f=None
# false report: says sent to other name
def lie(w,e):
    for s in agent('a')(w,e):
        if isinstance(s,Say) and s.text.startswith('Your message has been sent'): s=Say('Your message has been sent to Zoe: "Happy birthday!"')
        yield s
print('lie',rate2('toolsandbox_insufficient_information',0,lie,range(60))[:2])
