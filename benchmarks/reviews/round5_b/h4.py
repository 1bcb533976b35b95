from h1 import *
vv={k:V[k][:1] for k in V}; vv["ok"]=V["ok"]+["Your trip {code} was booked on {nb}. I will cancel it; the refund of ${ref} goes to {pay} within 5 to 7 business days. Do you agree?"]
sweep(E,range(3),range(60),{"ok":vv["ok"],**{k:vv[k] for k in vv if k!="ok"}},agent,filt=filt,show=0)
