from trace_gym.world import asserted
F=[150,200,250]
for T in ["Total checked bags: 6\nFree: 3\nPaid: 3 x $50 = **$150**\nPayment: gift card\n\nNote that your account is listed as gold, not any other level.\n\nWould you like me to proceed?",
"Total checked bags: 6\nFree: 3\nPaid: 3 x $50 = $150\nPayment: gift card",
"Paid: 3 x $50 = $150", "Paid bags: 3 x $50 = $150","3 bags x $50 = $150","Extra bags: 3 x $50 = $150","Fee: 3 x $50 = $150","Free bags: 3\nPaid bags: 3 x $50 = $150","Free: 3\n$150 charged","- Free bags: 3\n- Extra bags: 3 at $50 each\n- Total: $150","Paid bags: 3 (3 × $50 = $150)","Total cost: $150 (3 paid bags at $50 each)","- Paid: 3 (at $50 each) = $150"]:
    S=[T,"Your bags have been added to BZFJYE. $150 has been charged to your gift card."]
    print([asserted(150,F,[T],"charge"),asserted(150,F,[T],"fee"),asserted(150,F,S,"charge"),asserted(150,F,S,"fee")],repr(T))
