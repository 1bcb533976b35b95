from h import *
import sys
for e in sys.argv[1:]:
    for lv in (1,3):
        for s in (100,103):
            def p(ep,w):
                for x in w.copy().oracle(): yield x
            ep,sc=play(e,lv,s,p); print(ep.scenario); show(ep,600)
