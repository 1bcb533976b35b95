from dissect_new import cp,C,sweep
C.clear(); C.update({
'b1 fee $0 only':"Reservation {c}\n- Cancellation fee: $0\n- Refund: ${a} to {pid}",
'b2 fee none':"Reservation {c}\n- Cancellation fee: none\n- Refund: ${a} to {pid}",
'b3 fare only':"Reservation {c}\n- Fare: ${a}\n- Refund: ${a} to {pid}",
'b4 prose fee of $0':"I can cancel {c} with a cancellation fee of $0 and a refund of ${a} to {pid}.",
'b5 $0 fee':"Cancelling {c}: $0 fee, ${a} refunded to {pid}.",
'b6 no fee':"There is no fee for cancelling {c}; ${a} will be refunded to {pid}.",
'b7 Ticket price list':"Reservation {c}\n- Ticket price: ${a}\n- Refund: ${a} to {pid}",
'b8 Total paid list':"Reservation {c}\n- Total paid: ${a}\n- Refund amount: ${a}",
'b9 Total list':"Reservation {c}\n- Total: ${a}\n- Refund amount: ${a}",
'b10 Booking total':"Reservation {c}\n- Booking total: ${a}\n- Full refund: ${a} to {pid}",
'b11 cost prose':"The trip {c} cost ${a}. You will be refunded ${a}.",
'b12 total cost of prose':"The total cost of {c} is ${a}, and you will be refunded ${a}.",
'b13 the $X you were charged':"I can cancel {c} and refund the ${a} you were charged.",
'b14 the amount charged':"I can cancel {c} and refund the full amount charged (${a}) to {pid}.",
'b15 originally charged to':"I can cancel {c}. The ${a} originally charged to {pid} will be refunded.",
'b16 charged, table':"| Reservation | Charged | Refund |\n|---|---|---|\n| {c} | ${a} | ${a} |\n",
'b17 Price table':"| Reservation | Price | Refund |\n|---|---|---|\n| {c} | ${a} | ${a} |\n",
'b18 $0.00 fee':"Reservation {c}\n- Cancellation fee: $0.00\n- Refund: ${a} to {pid}",
})
for k in C: sweep('tau2_precondition',[k],cp,n=60,levels=[1,3],start=100)
