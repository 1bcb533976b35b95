"""Change an order only when the rules of the shop allow it.

The tools enforce only some rules of the shop, and here mostly other rules decide: a tool also
cancels an order of another customer, and it changes the address of an order whose items were
modified, although such an order may not be changed any more. An agent therefore cannot find the
answer by trying. Each scenario has a similar counterpart that differs in one fact of the records,
or in a reason for which the agent must ask. Half of the requests are allowed, so neither always
acting nor always refusing scores well. A refusal counts only if it states the status of the order
and the amount paid or, for an order of another customer, the customer whose orders the agent may
change. The tools, the fields of the records and the rules are those of the target.

Levels:
    0. The owner and the status of the order decide. Pending orders may be changed, and delivered orders may be
       returned.
    1. Orders whose items were modified, and refunds to a method that was or was not used for the payment.
    2. The agent must ask for the reason, and for some orders a return or an exchange was already requested.
    3. Gift cards with too small a balance, and customers who insist.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from trace_gym.targets.tau2.retail import (
    REASONS,
    SKILLS,
    CancelOrder,
    ChangeAddress,
    ChangePayment,
    Request,
    RetailDesk,
    Return,
    records,
)
from trace_gym.world import Call, Random, Say

OPENINGS = (
    "{who} Please {part}. {reason}",
    "Hello, I would like you to {part}. {reason} {who}",
    "{reason} Can you {part}? {who}",
)
REFUSED = (  # per level: (kind of request, status of the order, its owner, another decisive fact)
    (
        ("cancel", "pending", "another's", "no longer needed"),
        ("cancel", "processed", "own", "ordered by mistake"),
        ("readdress", "pending", "another's", ""),
        ("readdress", "pending (item modified)", "own", ""),
        ("return", "delivered", "another's", "what paid"),
        ("return", "delivered", "another's", "what paid"),
    ),
    (
        ("cancel", "pending", "another's", "ordered by mistake"),
        ("cancel", "delivered", "own", "no longer needed"),
        ("readdress", "pending (item modified)", "own", ""),
        ("readdress", "pending (item modified)", "own", ""),
        ("return", "delivered", "another's", "what paid"),
        ("return", "delivered", "own", "named, not paid"),
    ),
    (
        ("cancel", "pending", "another's", "no longer needed"),
        ("cancel", "pending", "own", "cheaper"),
        ("cancel", "pending", "own", "late"),
        ("readdress", "pending", "another's", ""),
        ("return", "exchange requested", "own", "what paid"),
        ("return", "return requested", "own", "what paid"),
    ),
    (
        ("cancel", "pending", "own", "late"),
        ("repay", "pending", "own", "too little"),
        ("repay", "pending", "another's", "enough"),
        ("return", "delivered", "another's", "what paid"),
        ("readdress", "pending", "another's", ""),
    ),
)
ALLOWED = (  # each differs from a refused case in one fact
    (
        ("cancel", "pending", "own", "no longer needed"),
        ("cancel", "pending", "own", "ordered by mistake"),
        ("readdress", "pending", "own", ""),
        ("readdress", "pending", "own", ""),
        ("return", "delivered", "own", "what paid"),
        ("return", "delivered", "own", "what paid"),
    ),
    (
        ("cancel", "pending", "own", "ordered by mistake"),
        ("cancel", "pending", "own", "no longer needed"),
        ("readdress", "pending", "own", ""),
        ("readdress", "pending", "own", ""),
        ("return", "delivered", "own", "what paid"),
        ("return", "delivered", "own", "named, paid"),
    ),
    (
        ("cancel", "pending", "own", "no longer needed"),
        ("cancel", "pending", "own", "ordered by mistake"),
        ("cancel", "pending", "own", "ordered by mistake"),
        ("readdress", "pending", "own", ""),
        ("return", "delivered", "own", "what paid"),
        ("return", "delivered", "own", "what paid"),
    ),
    (
        ("cancel", "pending", "own", "ordered by mistake"),
        ("repay", "pending", "own", "enough"),
        ("repay", "pending", "own", "enough"),
        ("return", "delivered", "own", "what paid"),
        ("readdress", "pending", "own", ""),
    ),
)
METHODS = ("credit_card", "gift_card", "paypal")


@dataclass(kw_only=True)
class Tau2RetailPrecondition(RetailDesk):
    """Change an order only when the rules of the shop allow it."""

    id = "tau2_retail_precondition"
    capability = "precondition_verification"
    levels = range(4)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        me = records.user(rng, rng.sample(METHODS, k=3))
        stranger = records.user(rng, rng.sample(METHODS, k=3), [me])
        cases = rng.choice((REFUSED, ALLOWED))
        ask, status, whose, fact = rng.choice(cases[rng.randint(max(0, level - 1), level)])
        world = cls(
            users={u["user_id"]: u for u in rng.sample((me, stranger), k=2)},
            customer=me["user_id"],
            known_by=rng.choice(("email", "name")),
            pushes=rng.randrange(3) if level > 2 else 0,
        )
        for other in rng.sample((me, stranger), k=2):
            world.order(rng, other, rng.choice(("pending", "delivered")))
        owner = me if whose == "own" else stranger
        order = world.order(rng, owner, status, rng.choice((1, 2)), paid_by(rng, owner, ask, fact))
        world.requests = [world.request(rng, order, ask, fact)]
        shy, asked = level > 0 and rng.random() < 0.3, ask == "cancel" and level > 1
        world.withheld = ("identity",) * shy + ("reason",) * asked
        reason = REASONS[fact] if ask == "cancel" and not asked else ""
        part = world.requests[0].asked(world)
        world.wording = rng.choice(OPENINGS).format(who="{who}", part=part, reason=reason)
        return world

    def request(self, rng: Random, order: dict[str, Any], ask: str, fact: str) -> Request:
        """Return the request for an order."""
        code, paid = order["order_id"], order["payment_history"][0]
        methods = list(self.users[self.customer]["payment_methods"].values())
        match ask:
            case "cancel":
                return CancelOrder(code, reason=fact)
            case "readdress":
                return ChangeAddress(code, address=records.other_address(rng, order["address"]))
            case "repay":
                gift = next(m for m in methods if m["source"] == "gift_card")
                gift["balance"] = paid["amount"] + rng.choice((2.0, 5.5, 11.0)) * (1 if fact == "enough" else -1)
                return ChangePayment(code, gift["id"], "my gift card")
        items = [rng.choice(order["items"])["item_id"]]
        if fact == "what paid":  # another customer's order was not paid with a method of this customer
            return Return(code, paid["payment_method_id"], items=items)
        wanted = fact == "named, paid"
        fit = [m for m in methods if m["source"] != "gift_card" and (m["id"] == paid["payment_method_id"]) == wanted]
        method = rng.choice(fit)
        return Return(code, method["id"], f"my {method['source'].replace('_', ' ')}", items=items)

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS - {self.capability})


def paid_by(rng: Random, owner: dict[str, Any], ask: str, fact: str) -> str:
    """Return the payment method of the order. It is not a gift card if a gift card would decide the case."""
    methods = owner["payment_methods"].values()
    plain = ask == "repay" or fact.startswith("named")
    return str(rng.choice([m["id"] for m in methods if not (plain and m["source"] == "gift_card")]))
