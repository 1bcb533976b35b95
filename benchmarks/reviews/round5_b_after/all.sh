cd OUT
export OMP_NUM_THREADS=1 PYTHONPATH=TREE
for f in "h1" "h2 1" h3 h4 p1 p3 b1 b2 r1 dbg2 m1 f1 f2 f3 f4 t1 c1 c2 a1 a2 s1 s2 d1 d2 q2 g1 q1 h5 p2; do set -- $f
 timeout 300 nice -n 10 TREE/.venv/bin/python $1.py $2 > out_$1.txt 2>&1; echo "rc $?" >> out_$1.txt; done
