from common import *
import json
from trace_gym.targets.toolsandbox.requests import Switch, Text
from trace_gym.targets.toolsandbox import lookups as L
LB={"cellular":"cellular service","wifi":"Wi-Fi","location_service":"location services","low_battery_mode":"low battery mode"}
def agent(e,style,pre=False):
    w=e.start; rng=random.Random(str(e.scenario)+str(style))
    if w.greeting: e.step(Say(text=["Yes, I'm here! How can I help you?","Hello! What would you like me to do?","Hi! Sure, what do you need?"][style%3]))
    if pre:
        for t in ("get_wifi_status","get_cellular_service_status","get_location_service_status","get_low_battery_mode_status"): e.step(Call(tool=t,arguments={}))
    info={}; last=None
    for s in w.oracle():
        if isinstance(s,Call):
            a=dict(s.arguments)
            if s.tool=="send_message_with_phone_number" and a["content"] not in str(w.wording):
                r=[r for r in w.requests if isinstance(r,L.Report)][0]; lk=r.lookup; v=lk.value(w)
                if isinstance(lk,L.Price): a["content"]=[f"{lk.company}'s current stock price is ${v}.",f"Hi! The stock price of {lk.company} is {v:.2f}.",f"{lk.company} stock price: {v} USD"][style%3]
                else: a["content"]=[f"{lk.amount} {lk.source} is {v:,.2f} {lk.wanted}.",f"{lk.amount:,} {lk.source} = {v} {lk.wanted}",f"Hi, {lk.amount} {lk.source} are about {v:.1f} {lk.wanted}."][style%3]
            out=e.step(Call(tool=s.tool,arguments=a)); info[s.tool]=out[-1]["content"]
    words=[]
    for r in w.requests:
        if isinstance(r,Switch): words.append([f"{LB[r.setting]} has been turned {'on' if r.on else 'off'}",f"I've turned {'on' if r.on else 'off'} {LB[r.setting]}",f"{LB[r.setting]} is now {'on' if r.on else 'off'}"][style%3])
        elif isinstance(r,Text): words.append([f"I've sent your message to {r.name}",f"your message to {r.name} has been sent",f"the text \"{r.content}\" was sent to {r.name}"][style%3])
        elif isinstance(r,L.Price):
            v=r.value(w); d=json.loads(info["search_stock"]); words.append([f"the current stock price of {r.company} is ${v}",f"{r.company} ({d.get('symbol','')}) is trading at {v:.2f} {d.get('currency','USD')}"+(f", with a change of {d['change']} ({d.get('percent_change','')}%)" if 'change' in d else ""),f"{r.company}'s stock price is **${v}**"][style%3])
        elif isinstance(r,L.Exchange):
            v=r.value(w); words.append([f"{r.amount} {r.source} equals {v:,.2f} {r.wanted}",f"{r.amount:,} {r.source} is approximately {v:.1f} {r.wanted} (rate: {w.rates[r.wanted]/w.rates[r.source]:.4f})",f"{r.amount} {r.source} ≈ {v} {r.wanted}"][style%3])
        elif isinstance(r,L.Position): words.append([f"the longitude of this phone is {w.longitude}",f"your phone is at latitude {w.latitude} and longitude {w.longitude}",f"the current location is {abs(w.latitude)}° {'N' if w.latitude>0 else 'S'}, {abs(w.longitude)}° {'E' if w.longitude>0 else 'W'}, so the longitude is {w.longitude:.1f}"][style%3])
        elif isinstance(r,L.Weather):
            d=w.weather_here()[r.days]; v=r.value(w); k={"max_temperature":"highest","min_temperature":"lowest","average_temperature":"average"}[r.kind]
            words.append([f"the {k} temperature {L.on_day(r.days)} is {v}°C",f"{L.on_day(r.days)} the forecast has a high of {d['max_temperature']}°C, a low of {d['min_temperature']}°C and an average of {d['average_temperature']}°C",f"the {k} temperature {L.on_day(r.days)} will be {v} degrees"][style%3])
        elif isinstance(r,L.Distance): v=r.value(w); words.append([f"{r.place} is {v:.2f} km away from here",f"the distance to {r.place} is approximately {v:.1f} kilometers",f"it's about {v:.2f} km (straight line) from your current location to {r.place}"][style%3])
        elif isinstance(r,L.Report): words.append([f"I texted {r.name} the answer",f"I've sent {r.name} a message with {r.lookup.what}",f"{r.name} has been texted"][style%3])
    if w.restore: words.append(["all settings are back as they were","I've restored all the settings to how I found them","the settings are the same as before"][style%3])
    if not e.done: e.step(Say(text=[". ".join(x[0].upper()+x[1:] for x in words)+".","All done!\n\n"+"\n".join("- "+x[0].upper()+x[1:] for x in words),"Done: "+"; ".join(words)+". Let me know if you need anything else."][(style//3)%3]))
if __name__=="__main__":
    for st in range(9): run("toolsandbox_state_dependency",range(4),range(100,170),agent,f"{st}",show=1,style=st,pre=st%2==1)
