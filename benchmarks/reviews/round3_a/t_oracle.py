from h import *
import sys
for env in open('list.txt').read().split():
    for l in range(registry.level_count(env)):
        go(env,l,lambda w:(s for s in w.oracle()),range(50),'oracle')
        go(env,l,lambda w:(s for s in w.ablated()),range(50),'ablated')
