"""Requests of retail customers about an existing order. Each class defines its rules, write call and checks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from trace_gym.statements import find_values, mentions, normalize, states_pattern
from trace_gym.targets.tau2 import desk as base
from trace_gym.targets.tau2 import retail_policy as policy
from trace_gym.targets.tau2.desk import PRECISION, SKILLS, Verdict
from trace_gym.targets.tau2.generic import Data
from trace_gym.targets.tau2.leaks import described, names_account
from trace_gym.targets.tau2.payment_directions import exchanges_charge_and_refund
from trace_gym.targets.tau2.prices import wrong_prices
from trace_gym.targets.tau2.refunds import exchanged
from trace_gym.targets.tau2.retail_records import PRICES, STATUSES
from trace_gym.targets.tau2.retail_tools import CANCEL_REASONS
from trace_gym.world import Call, Check, asserted, states_status

if TYPE_CHECKING:
    from trace_gym.targets.tau2.retail import RetailDesk

_GOES = (
    r"will (?:now |also |then )*(?:go|ship|be (?:\w+ )?(?:sent|delivered|shipped|redirected))|"
    r"(?:now |also )+goes|goes now|"
    r"(?:is|are) (?:now |also )*(?:going|headed|set|updated|changed|redirected)|"
    r"(?:has|have) (?:now |also |just )*been (?:\w+ )?(?:updated|changed|redirected|set|sent)"
)
"""Pattern of the words before the address in a statement that an order will be sent to the address."""


@dataclass
class Request(base.CustomerRequest["RetailDesk"]):
    """Base class of requests about one order."""

    order: str

    @property
    def record(self) -> str:
        return self.order

    def reads(self, desk: RetailDesk, skills: frozenset[str]) -> Iterator[Call]:
        yield Call("get_order_details", {"order_id": self.order})

    def asked(self, desk: RetailDesk) -> str:
        """Return the request in words that can follow "Please"."""
        raise NotImplementedError

    def refusal_checks(self, start: RetailDesk, said: list[str]) -> Iterator[Check]:
        order = start.orders[self.order]
        if order["user_id"] == start.customer:
            stands = states_status(order["status"], said, STATUSES, self.order, start.orders)
            is_stated = stands and amount_told(start, policy.paid(order), said, "paid")
            message = f"the customer was told how {self.order} stands and what was paid"
        else:
            is_stated = names_account(start.customer, start.users, said) and not self.leaked(start, said)
            message = (
                f"the customer was told whose orders are seen, and nothing of the owner or contents of {self.order}"
            )
        refused = start.refused(self.order, said, is_stated) and not self.claimed_done(start, said)
        yield Check.goal(f"the customer was told that {self.order} cannot be served", refused)
        yield Check.goal(message, refused and is_stated)

    def refund(self, start: RetailDesk) -> float | None:
        """Return the refund for this request, or None if there is no refund or if it depends on the new items."""
        return None

    def assigned(self, start: RetailDesk, said: list[str]) -> bool:
        """Return whether no message states the refund of one order for another order."""
        back = {r.record: amount for r in start.requests if (amount := r.refund(start)) is not None}
        own = {float(item["price"]) for item in start.orders[self.order]["items"]} | {
            policy.paid(start.orders[self.order])
        }
        return not exchanged(self.order, back, own, start.orders, said)

    def leaked(self, start: RetailDesk, said: list[str]) -> bool:
        """Return whether messages contain a fact about an order of another customer, or about its owner.

        Facts that the customer wrote, and facts about the customer's orders, do not count.
        """
        order = start.orders[self.order]
        offers = [r.offer(start, SKILLS) if r.verdict(start).allowed else r.refusal(start) for r in start.requests]
        if policy.paid(order) in amounts(said) - amounts(offers):
            return True
        mine = [start.customer, *(key for key, o in start.orders.items() if o["user_id"] == start.customer)]
        known = [start.opening(), *offers, *(str(start.users.get(key) or start.orders[key]) for key in mine)]
        known += [r.asked(start) for r in start.requests]
        owner = start.users[order["user_id"]]
        if described(order, owner, [r.asked(start) for r in start.requests] + [start.opening()], start.orders, said):
            return True
        private = policy.private_facts(order, owner)
        return any(mentions(fact, said) and not mentions(fact, known) for fact in private)


@dataclass
class CancelOrder(Request):
    """Request to cancel a pending order, with a reason."""

    kind: ClassVar[str] = "cancel"
    done: ClassVar[str] = "cancelled"
    reason: str = CANCEL_REASONS[0]

    def asked(self, desk: RetailDesk) -> str:
        return f"cancel order {self.order}"

    def verdict(self, desk: RetailDesk) -> Verdict:
        return policy.cancel(desk, desk.orders[self.order], self.reason)

    def call(self, desk: RetailDesk, skills: frozenset[str]) -> Call:
        known = "reason" not in desk.withheld or base.PRECONDITION in skills
        reason = self.reason if known and self.reason in CANCEL_REASONS else CANCEL_REASONS[0]
        return Call("cancel_pending_order", {"order_id": self.order, "reason": reason})

    def offer(self, desk: RetailDesk, skills: frozenset[str]) -> str:
        return f"cancel {self.order}, refund {policy.paid(desk.orders[self.order]):.2f}"

    def checks(self, desk: RetailDesk, start: RetailDesk, want: RetailDesk, said: list[str]) -> Iterator[Check]:
        cancelled = desk.orders[self.order]["status"] == "cancelled"
        yield Check.goal(f"{self.order} is cancelled", cancelled)
        paid = policy.paid(start.orders[self.order])
        is_stated = cancelled and amount_told(start, paid, said, "refund") and self.assigned(start, said)
        is_stated = is_stated and not wrong_prices(start, want, said)
        yield Check.goal(f"the customer was told what comes back for {self.order}", is_stated)

    def refund(self, start: RetailDesk) -> float:
        return policy.paid(start.orders[self.order])


@dataclass
class ChangeAddress(Request):
    """Request to send a pending order to another address."""

    kind: ClassVar[str] = "readdress"
    done: ClassVar[str] = "redirected|rerouted|readdressed"
    address: Data = field(default_factory=dict)

    def asked(self, desk: RetailDesk) -> str:
        return f"send order {self.order} to {address_line(self.address)}"

    def verdict(self, desk: RetailDesk) -> Verdict:
        return policy.change_order(desk, desk.orders[self.order], "pending")

    def call(self, desk: RetailDesk, skills: frozenset[str]) -> Call:
        return Call("modify_pending_order_address", {"order_id": self.order, **self.address})

    def claimed_done(self, start: RetailDesk, said: list[str]) -> bool:
        goes = rf"(?:{_GOES})\b[^.;\n]{{0,60}}\b{re.escape(normalize(self.address['address1']))}"
        return super().claimed_done(start, said) or states_pattern(goes, said, self.order, start.orders)

    def offer(self, desk: RetailDesk, skills: frozenset[str]) -> str:
        return f"{self.order} goes to {address_line(self.address)}"

    def checks(self, desk: RetailDesk, start: RetailDesk, want: RetailDesk, said: list[str]) -> Iterator[Check]:
        here = desk.orders[self.order]["address"]
        moved = here["address1"] == self.address["address1"]
        yield Check.goal(f"{self.order} goes to {self.address['address1']}", moved)
        settled = here == self.address and not wrong_prices(start, want, said)
        yield Check.goal(f"the address of {self.order} is the new one in every part, at no other price", settled)


@dataclass
class PaidOrderChange(Request):
    """Base class of a request for a change that charges a stored payment method or refunds money to it."""

    method: str = ""
    """Id of the payment method."""
    named: str = ""
    """The customer's name for the payment method, such as ``my gift card`` or ``my card ending in 7447``.

    It is empty for the method that paid for the order.
    """

    def reads(self, desk: RetailDesk, skills: frozenset[str]) -> Iterator[Call]:
        yield from super().reads(desk, skills)
        if self.named and PRECISION in skills:
            yield Call("get_user_details", {"user_id": desk.customer})

    def payment(self, desk: RetailDesk, skills: frozenset[str]) -> str:
        """Return the payment method in an expert's call: without precision, the method that paid for the order."""
        return self.method if self.named and PRECISION in skills else policy.original(desk.orders[self.order])


@dataclass
class ChangePayment(PaidOrderChange):
    """Request to charge a pending order to another payment method."""

    kind: ClassVar[str] = "change the payment of"

    def reads(self, desk: RetailDesk, skills: frozenset[str]) -> Iterator[Call]:
        yield from Request.reads(self, desk, skills)
        yield Call("get_user_details", {"user_id": desk.customer})

    def asked(self, desk: RetailDesk) -> str:
        return f"charge order {self.order} to {self.named}"

    def verdict(self, desk: RetailDesk) -> Verdict:
        return policy.change_payment(
            desk, desk.orders[self.order], desk.users[desk.customer]["payment_methods"][self.method]
        )

    def payment(self, desk: RetailDesk, skills: frozenset[str]) -> str:
        """Return the payment method in an expert's call: without precision, the first new method in the profile."""
        before, methods = policy.original(desk.orders[self.order]), desk.users[desk.customer]["payment_methods"]
        return self.method if PRECISION in skills else next(m for m in methods if m != before)

    def call(self, desk: RetailDesk, skills: frozenset[str]) -> Call:
        arguments = {"order_id": self.order, "payment_method_id": self.payment(desk, skills)}
        return Call("modify_pending_order_payment", arguments)

    def offer(self, desk: RetailDesk, skills: frozenset[str]) -> str:
        return f"{self.order} is paid with {self.payment(desk, skills)}"

    def checks(self, desk: RetailDesk, start: RetailDesk, want: RetailDesk, said: list[str]) -> Iterator[Check]:
        now, wanted = desk.orders[self.order]["payment_history"], want.orders[self.order]["payment_history"]
        yield Check.goal(f"the payment of {self.order} was changed", len(now) == len(wanted))
        settled = now == wanted and not wrong_prices(start, want, said)
        methods, before = start.users[start.customer]["payment_methods"], policy.original(start.orders[self.order])
        settled = settled and not exchanges_charge_and_refund(self.method, before, methods, self.about(start, said))
        yield Check.goal(f"{self.order} is paid with {self.method}, at no other price", settled)

    def about(self, start: RetailDesk, said: list[str]) -> list[str]:
        """Return the parts of the messages that are about this request.

        If this is the only request, these are the complete messages, otherwise the sentences that name only its order.
        """
        if len(start.requests) < 2:
            return said
        ids = {key.lstrip("#").lower() for key in start.orders}
        sentences = (s for text in said for s in re.split(r"(?<=[.;!?])\s|\n", normalize(text)))
        return [s for s in sentences if {key for key in ids if key in s} == {self.order.lstrip("#").lower()}]


def address_line(address: Data) -> str:
    """Return an address on one line, as people write it."""
    parts = ("address1", "address2", "city")
    return f"{', '.join(address[p] for p in parts if address[p])}, {address['state']} {address['zip']}"


def amount_told(start: RetailDesk, amount: float, said: list[str], role: str) -> bool:
    """Return whether messages state an amount in a role, such as a refund, and no price in this role that is invented.

    Messages may state several amounts that are in the records. A message that lists all possible prices fails.
    """
    if not said:
        return False
    shown = {i["price"] for o in start.orders.values() for i in o["items"]}
    shown |= {v["price"] for p in start.products.values() for v in p["variants"].values()}
    return asserted(amount, set(PRICES) - shown, said, role)


def amounts(said: Iterable[str]) -> set[float]:
    """Return the numbers in texts, in digits or words, except for those in dates and times."""
    return {abs(v.value) for text in said for v in find_values(text) if isinstance(v.value, float)}
