from suffix_base import *
for e in ('tau2_itinerary_preservation','tau2_conditional_instructions','tau2_retail_structured_data','tau2_precondition'): sweep(e,['p1','p7','r4','r9'],mk,n=25,start=500,levels=[1])
