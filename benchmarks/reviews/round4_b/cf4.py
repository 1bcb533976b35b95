from cf2 import *
R=lambda w:w.right
rate(E,range(4),range(500,560),{'wrongamt':mk(R,pq,wrongamt),'exch':mk(R,pq,exch),'tempting':mk(lambda w:w.tempting),'cheapest_clock':mk(always_cheapest),'clock':mk(clocktime),'wrongland':mk(R,pq,wrongland),'hedge':mk(R,pq,hedge),'depart':mk(R,pq,depart),'noconsent':mk(R,consent=False)},quiet=True)
print(log(run(E,1,503,mk(R,pq,exch))))
