from h import *
n='toolsandbox_state_dependency'
def mk(v):
    def f(t,k,ep):
        if t.startswith('What can I do'): return ["Hello! How can I help you today?","Hi, I'm here! What would you like me to do?","Sure, what do you need?"][v]
        out=[]
        for s in re.split(r'(?<=[\d"r.])\. (?=I )|\.$',t):
            s=s.strip('. ')
            if not s: continue
            m=re.match(r'I switched (.*) (on|off)$',s)
            if m: out.append([f"{m[1].capitalize()} has been turned {m[2]}.",f"I've also turned {m[1]} {m[2]} as requested.",f"- {m[1].capitalize()}: now {m[2]}"][v]); continue
            m=re.match(r'I found (.*): (-?[\d.]+)$',s)
            if m:
                w=m[1]; x=m[2]
                c=re.match(r'what (\d+) (\w+) are in (\w+)',w)
                d=re.match(r'how many kilometers it is from here to (.*)',w)
                if c: out.append([f"{int(c[1]):,} {c[2]} is approximately {float(x):,.2f} {c[3]}.",f"{c[1]} {c[2]} = {x} {c[3]}",f"- {c[1]} {c[2]} converts to {float(x):,.1f} {c[3]}"][v])
                elif d: out.append([f"It is {x} km from here to {d[1]}.",f"{d[1]} is about {float(x):.1f} kilometers away from your current location.",f"- Distance to {d[1]}: {x} km"][v])
                elif 'longitude' in w: out.append([f"The longitude of your phone is {x}.",f"Your phone is at longitude {ep.world.longitude} (latitude {ep.world.latitude}).",f"- Longitude: {ep.world.longitude}"][v])
                elif 'temperature' in w: out.append([f"{w.capitalize()} is {x}°C.",f"{w.capitalize()} will be {x} degrees.",f"- {w.capitalize()}: {x} °C"][v])
                else: out.append([f"{w.capitalize()} is ${x}.",f"{w.capitalize()} is currently {x} USD.",f"- {w}: **{x}**"][v])
                continue
            m=re.match(r'I sent this to (.*): (".*")',s)
            if m: out.append([f"Your message to {m[1]} has been sent.",f"I've texted {m[1]}: {m[2]}",f"- Message {m[2]} sent to {m[1]}"][v]); continue
            m=re.match(r'I sent (.*) the answer',s)
            if m: out.append([f"I've texted {m[1]} the information.",f"The message has been sent to {m[1]}.",f"- Text sent to {m[1]}"][v]); continue
            print('UNM',s); out.append(s)
        if ep.world.restore: out.append(["All settings have been restored to how they were.","I left the settings as I found them.","- Settings restored"][v])
        return ('\n' if v==2 else ' ').join(out)
    return f
for l in range(4):
    for v in range(3): rate(n,l,mk(v),ex=2,label=f'v{v}')
