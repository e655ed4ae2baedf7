"""Which heading of the sidebar a conversation belongs under (pure)."""

from __future__ import annotations

from datetime import datetime, timedelta

from app.i18n import tr


def heading(updated: float, pinned: bool, now: datetime) -> str:
    """Pinned, Today, Yesterday, Last 7 days, Last 30 days, or month and year. `updated` in seconds since 1970."""
    if pinned:
        return tr("Pinned")
    day = datetime.fromtimestamp(updated).date()
    today = now.date()
    if day >= today:
        return tr("Today")
    if day == today - timedelta(days=1):
        return tr("Yesterday")
    if day > today - timedelta(days=7):
        return tr("Last 7 days")
    if day > today - timedelta(days=30):
        return tr("Last 30 days")
    return f"{_month(day.month)} {day.year}"


def _month(number: int) -> str:
    return tr(
        (
            "January", "February", "March", "April", "May", "June", "July",
            "August", "September", "October", "November", "December",
        )[number - 1]
    )  # fmt: skip
