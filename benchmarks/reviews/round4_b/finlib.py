def val(t): return re.findall(r'-?\d[\d.]*\d',t)[-1]
def fin(ep,t,plan,i=0):
    w=t
    if isref(t): return REF[0]
    v=val(t) if 'found' in t else ''
    wish=t[8:].split(':')[0] if 'found' in t else ''
    if not v: 
        m=re.match(r'I sent this to (.*): "(.*)"\.',t)
        if m: return [f"Your message has been sent to {m[1]}. ✅",f"Done! I texted {m[1]}: “{m[2]}”. I turned on cellular service in order to do so." if any(k=='set_cellular_service_status' for k,_ in changes(plan)) else f"Done! I texted {m[1]}: “{m[2]}”.", f"I've sent {m[1]} the message \"{m[2]}\"."][i]
        return [t,"All done! "+t, "Done."][i]
    if 'stock' in wish: return [f"The current stock price of {wish[19:]} is **${v}**.",f"{wish[19:]} is trading at {float(v):,.2f} USD.",f"{wish[19:]} (price): {float(v):.1f}"][i]
    if ' are in ' in wish: 
        a,b=wish[5:].split(' are in '); return [f"{a} is approximately **{float(v):,.2f} {b}** at the current exchange rate.",f"{a} = {v} {b}",f"{a} equals about {float(v):.1f} {b}."][i]
    if 'itude' in wish:
        k='latitude' if 'latitude' in wish else 'longitude'; f=float(v); d=('S' if f<0 else 'N') if k=='latitude' else ('W' if f<0 else 'E')
        return [f"Your phone's current {k} is **{v}**°.", f"The {k} of this phone is {v} (i.e. {abs(f)}° {d}).", f"Your {k} is approximately {abs(f)}° {d}."][i]
    if 'kilomet' in wish: p=wish.split(' to ')[-1]; return [f"{p} is approximately **{v} km** from your current location.",f"The distance from here to {p} is {float(v):,.1f} kilometers.",f"It's about {float(v):.1f} km from your current location to {p}."][i]
    if 'temperature' in wish: return [f"The {wish[4:].replace(' here','')} at your current location is **{v}°C**.",f"It'll be {v} degrees ({wish[4:]}).",f"The {wish[4:]} is {v} °C."][i]
    return t
