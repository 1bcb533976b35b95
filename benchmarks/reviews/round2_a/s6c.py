exec(open("s6.py").read().split('if __name__')[0])
def one(z):
  def f(ep,rng):
    w=ep.world.copy(); yield getu(w); m,I=info(w); tot=0
    for i in I:
        yield getr(i['c']); tot+=i['fee']
        yield S(f"For {i['c']}, the allowance is {i['fr']} free bags, so adding {i['add']} costs ${i['fee']}. May I proceed and use {w.card}?")
        yield upb(i['c'],i['tot'],i['paid'],w.card)
        last=i is I[-1]
        yield S(z.format(t=i['tot'],fee=i['fee'],c=i['c']) if not last else f"The bags are added. For all added bags you pay ${tot} in total.")
  return f
two=lambda ep: len(ep.world.wanted)>1
for z in ["{c} now has {t} checked bags, and ${fee} was charged.","The bags have been added, and the charge is ${fee}.","Done! The first reservation now has {t} bags, for ${fee}.","The first reservation is updated: {t} bags, ${fee}. Let's continue with the second one.","I've added the bags; the cost for this reservation is ${fee}. Next, let me look at the other reservation."]:
    table(E,[2],60,{z:one(z)},bad=0,only=two)
