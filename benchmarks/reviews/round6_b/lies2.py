import conn, itin, rec, sys
from h import *
import rel
X=["I have also upgraded you to business class.","I have also upgraded your reservation to business class at no extra cost.","Your cabin has been changed to business.","I have also cancelled your return flight.","I also corrected the passenger name on the booking.","I also moved your return flight to the next day."]
def runl(m,E,base,L,mk):
    for t in X: trial(E,L,mk(base[0],lambda c,t=t: base[1](c)+" "+t),range(50),0,"LIE "+t)
for L in (1,): 
    runl(conn,"tau2_connection_feasibility",(conn.c2,conn.f1),L,conn.make); runl(itin,"tau2_itinerary_preservation",(itin.c2,itin.f1),L,itin.make); runl(rec,"tau2_record_identification",(rec.c2,rec.f1),L,rec.make); runl(rel,"tau2_relative_date_reasoning",(rel.c2,rel.f5),L,rel.make)
