from lib import *
from lib import _rw
env,level=sys.argv[1],int(sys.argv[2])
for seed in map(int,sys.argv[3].split(',')):
    e,log=play(env,level,seed,lambda w:(w.oracle()))
    print('=====',env,level,seed, 'needs', e.world.needs() if 0 else '')
    if seed==int(sys.argv[3].split(',')[0]) and len(sys.argv)>4: print(e.messages[0]['content'][:9000])
    show(log,500); sc=e.finish(); print("SUCCESS",sc.success,_rw(sc),"FAILED:",[c.description for c in sc.checks if not c.passed])
