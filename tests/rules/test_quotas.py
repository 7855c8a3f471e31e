"""What one merchant may have."""

import pytest

from printworks.errors import QuotaReached
from printworks.rules.quotas import Quotas, check_files

QUOTAS = Quotas(merchant_files=2_500_000_000)


def test_files_are_taken_until_they_take_all_that_they_may() -> None:
    check_files(0, QUOTAS)
    check_files(QUOTAS.merchant_files - 1, QUOTAS)

    with pytest.raises(QuotaReached) as refused:
        check_files(QUOTAS.merchant_files, QUOTAS)

    assert refused.value.message == (
        "The files of this account take 2.5 GB and may take 2.5 GB. Cancel orders that are not "
        "needed and wait until old files are deleted, or ask the operator for more room."
    )
