from h import *
for n in ['toolsandbox_insufficient_information','toolsandbox_state_dependency']:
  for l in range(4):
    seen={}
    for s in range(60):
        ep,sc,log=play(n,l,s)
        assert sc.success,(n,l,s,bad(sc))
        for a,b in log:
            if a in 'AU':
                k=re.sub(r'"[^"]*"|[A-Z]\w+( [A-Z]\w+)*|[\d.+:-]+','_',b)
                seen.setdefault((a,k),b)
    print(n,l); 
    for k,v in list(seen.items())[:60]: print('   ',k[0],v)
