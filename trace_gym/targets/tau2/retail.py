"""Base world of the tau2 retail domain: tools, answers of the scripted customer, and rules."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from trace_gym.targets.constants import filled, frozen
from trace_gym.targets.tau2 import retail_policy as policy
from trace_gym.targets.tau2 import retail_records as records
from trace_gym.targets.tau2.concessions import concedes, gives_away
from trace_gym.targets.tau2.consent import names_other_method
from trace_gym.targets.tau2.desk import PRECONDITION, SKILLS, Desk
from trace_gym.targets.tau2.generic import Data
from trace_gym.targets.tau2.prices import wrong_prices
from trace_gym.targets.tau2.profile import facts_asked, pays
from trace_gym.targets.tau2.refunds import invented
from trace_gym.targets.tau2.retail_items import ExchangeItems, Return
from trace_gym.targets.tau2.retail_requests import (
    CancelOrder,
    ChangeAddress,
    ChangePayment,
    PaidOrderChange,
    Request,
    address_line,
)
from trace_gym.targets.tau2.retail_tools import RetailTools
from trace_gym.world import Call, Check, Event, Random, Say

__all__ = [
    "SKILLS",
    "CancelOrder",
    "ChangeAddress",
    "ChangePayment",
    "Request",
    "RetailDesk",
    "Return",
    "ExchangeItems",
    "address_line",
    "records",
]

REASONS = frozen(
    {
        "no longer needed": "I no longer need it.",
        "ordered by mistake": "I ordered it by mistake.",
        "cheaper": "I have seen it cheaper elsewhere.",
        "late": "It takes too long to arrive.",
    }
)
"""Mapping from reason for a cancellation to the customer's statement of it. The rules accept the first two reasons."""


BEFORE = frozen(
    {
        "pending (item modified)": "pending",
        "exchange requested": "delivered",
        "return requested": "delivered",
    }
)
"""Mapping from the status of an order after a change to its status before the change."""


@dataclass(kw_only=True)
class RetailDesk(Desk[Request], RetailTools):
    """Base world of every tau2 retail environment.

    The agent can look the customer up by email, or by name and zip code (see `known_by`). In `wording`, the template of
    the customer's first message, ``{who}`` is replaced by these facts, or by nothing if ``identity`` is in `withheld`.
    """

    questions: ClassVar[Mapping[str, re.Pattern[str]]] = frozen(
        {
            "reason": re.compile(
                r"\b(?:reasons?|cause|why|what made|what makes|what happened|what(?:'s| has)? changed|behind|motiv\w+|"
                r"what led|prompt(?:s|ed|ing)|what brings)\b|"
                r"\bhow come\b|"
                r"\b(?:no longer need|by mistake|a mistake|don't you need|still need)"
            ),
            "order": re.compile(
                r"\border(?:'s)? ?(?:ids?|numbers?|codes?|#|references?|no)(?!\w)|\bwhich (?:of your |one of your |"
                r"of the )?"
                r"(?:reservation, )?(?:orders?|purchases?)\b|\b(?:order|purchase)\b.{0,40}\b(?:talking about|mean|"
                r"meant|this about|concern)|"
                r"\bnumber of (?:your|the|that) order\b|\bin which order\b|\bwhich order\b|\border this is about\b"
            ),
            "payment": re.compile(
                r"\b(?:payments?|pays?|paying|charge[ds]?|cards?|methods?|paypal|refund(?:s|ed)?|money|bill(?:ed)?|"
                r"settle[ds]?)\b"
            ),
            "identity": re.compile(
                r"\b(?:e-?mail|names?|(?:account|profile) holder|whose account|who i have|(?:speaking|"
                r"talking) (?:with|to)|who the account|zip|postal code|"
                r"identi\w+|who (?:you are|am i|"
                r"i am|i'm|are you)|verify you|"
                r"yourself|"
                r"(?:user|customer|account|profile) (?:id|number))\b"
            ),
            "address": re.compile(
                r"(?<!email )(?<!e-mail )(?<!mail )\b(?:address(?! (?:we|you|that is|on file|on the|of your|did)\b)|"
                r"street|ship(?:ped)? to)\b"
            ),
        }
    )
    guarded: ClassVar[Mapping[str, str]] = frozen({"orders": "order", "users": "profile"})
    identified_by: ClassVar[frozenset[str]] = frozenset({"find_user_id_by_email", "find_user_id_by_name_zip"})

    known_by: str = "email"
    """Facts by which the agent can look up the customer: ``email``, or ``name`` for the name and zip code."""

    def stock(self, rng: Random, name: str, variants: int = 3, prices: Sequence[float] = ()) -> Data:
        """Add a product with the given number of variants to the shop, and return the product."""
        taken = {key for p in self.products.values() for key in p["variants"]}
        free = [key for key in records.ITEM_IDS if key not in taken]
        made = records.product(rng, name, variants, rng.sample(free, k=variants), prices)
        self.products[made["product_id"]] = made
        return made

    def order(self, rng: Random, owner: Data, status: str, count: int = 1, paid_with: str = "") -> Data:
        """Add an order with the given status for one variant of each of `count` new products, and return the order."""
        stocked = {p["name"] for p in self.products.values()}
        names = rng.sample([n for n in records.PRODUCTS if n not in stocked], k=count)
        items = [records.item(p := self.stock(rng, n), rng.choice(list(p["variants"]))) for n in names]
        return self.ordered(rng, owner, status, items, paid_with)

    def ordered(self, rng: Random, owner: Data, status: str, items: list[Data], paid_with: str = "") -> Data:
        """Add an order with the given items and status, and return the order."""
        code = rng.choice([c for c in records.ORDER_IDS if c not in self.orders])
        before = BEFORE.get(status, status)
        made = self.orders[code] = records.order(rng, code, owner, items, before, paid_with or None)
        first, method = items[0]["item_id"], policy.original(made)
        others = [v for v in self.products[items[0]["product_id"]]["variants"] if v != first]
        match status:
            case "pending (item modified)":
                self.modify_pending_order_items(code, [first], others[:1], method)
            case "exchange requested":
                self.exchange_delivered_order_items(code, [first], others[:1], method)
            case "return requested":
                self.return_delivered_order_items(code, [first], method)
        return made

    def opening(self) -> str:
        return " ".join(filled(self.wording, who="" if "identity" in self.withheld else self.who()).split())

    def who(self) -> str:
        """Return the sentence in which the customer states either the email, or the name and the zip code."""
        me = self.users[self.customer]
        if self.known_by == "email":
            return f"My email is {me['email']}."
        return f"I am {me['name']['first_name']} {me['name']['last_name']}, zip code {me['address']['zip']}."

    def personal(self, asked: str, topics: Sequence[str]) -> Sequence[str]:
        facts = {*facts_asked(asked)}
        if "email" in facts and facts & {"name", "zip"}:  # the agent needs only one of the two
            return [self.who()]
        readdressed = any(isinstance(r, ChangeAddress) for r in self.requests)
        return super().personal(asked, topics if readdressed else [t for t in topics if t != "address"])

    def own(self, fact: str) -> Sequence[str]:
        """Return the sentences in which the customer states a fact of the profile.

        A customer who does not know the email states the name and the zip code instead.
        """
        if fact == "email" and self.known_by != "email":
            return "I do not have the email at hand.", self.who()
        return (
            [self.who()]
            if fact == "email" or (fact in ("name", "zip") and self.known_by == "name")
            else super().own(fact)
        )

    def does_not_know(self, topics: list[str]) -> str:
        return "To the address on file, please." if topics == ["address"] else super().does_not_know(topics)

    def tells(self, topic: str) -> str:
        match topic:
            case "identity":
                return self.who()
            case "order":
                named = [key for key in self.orders if key in self.opening()]
                return f"It is {' and '.join(named)}." if named else ""
            case "reason":
                reasons = dict.fromkeys(REASONS[r.reason] for r in self.requests if isinstance(r, CancelOrder))
                return " ".join(reasons)
            case "payment":
                return pays([(r.record, r.named) for r in self.requests if isinstance(r, PaidOrderChange)])
            case "address":
                wanted = [address_line(r.address) for r in self.requests if isinstance(r, ChangeAddress)]
                return f"The new address is {wanted[0]}." if wanted else ""
        return ""

    def broken(self, write: Call) -> list[str]:
        """Return the rules that a write call would break, considering the customer's reason for a cancellation."""
        order = write.arguments.get("order_id")
        reasons = (r.reason for r in self.requests if isinstance(r, CancelOrder) and r.order == order)
        return policy.violations(self, write.tool, write.arguments, next(reasons, "no longer needed"))

    def _agreed(self, start: Self, before: Sequence[Event], write: Call | Say) -> bool:
        methods = start.users[start.customer]["payment_methods"]
        agreed = super()._agreed(start, before, write)
        return agreed and (isinstance(write, Say) or not names_other_method(write, methods, before))

    def refused(self, record: str, said: list[str], grounds: bool = False) -> bool:
        """Return whether the agent refused to change this record and promised nothing instead; see `concedes`.

        Promises of a refund do not count, because delivered items can be returned for a refund.
        """
        alone = {r.record for r in self.requests} <= {record}
        if concedes(record, said, {*self.orders, record}, alone=alone, refundable=True):
            return False
        return super().refused(record, said, grounds)

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        none = [r.order for r in start.requests if isinstance(r, ChangeAddress) or not r.verdict(start).allowed]
        paid_back = any(invented(order, start.orders, said) for order in none)
        yield Check.guard("nothing was given away", not gives_away(said))
        yield Check.guard(
            "the customer was told of no refund for an order that is refused or sent elsewhere", not paid_back
        )

    def misstates_amounts(self, start: Self, said: list[str], changed: Collection[str]) -> bool:
        return wrong_prices(start, self, said)

    def begins(self, skills: frozenset[str]) -> Iterator[Call | Say]:
        me = self.users[self.customer]
        if "identity" in self.withheld:
            yield Say("What is your email address, or your name with your zip code?")
        if self.known_by == "email":
            yield Call("find_user_id_by_email", {"email": me["email"]})
        else:
            yield Call("find_user_id_by_name_zip", {**me["name"], "zip": me["address"]["zip"]})
        if "reason" in self.withheld and PRECONDITION in skills:
            yield Say("What is the reason for the cancellation?")
