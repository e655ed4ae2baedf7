"""The Debian package's control file and names."""

from __future__ import annotations

import email
import os
import re
from pathlib import Path

import pytest

from installer.linux import deb, needs
from installer.places import version
from tools.checkout.places import DevError


def test_the_control_file_has_every_field_and_its_description_is_folded() -> None:
    text = deb.control(["libc6 (>= 2.34)", "libdbus-1-3 (>= 1.9.14)"], ["libvulkan1"], 1234, "1.2rc1")
    fields = email.message_from_string(text)
    for name in ("Package", "Version", "Architecture", "Maintainer", "Description", "Section", "Priority"):
        assert fields[name]
    assert (fields["Package"], fields["Version"]) == ("gannet", "1.2~rc1")
    assert fields["Installed-Size"] == "1234"
    assert "libc6 (>= 2.34), libdbus-1-3 (>= 1.9.14)" in fields["Depends"]
    assert "libvulkan1" in fields["Recommends"].split(", ") and "libvulkan1" not in fields["Depends"]
    assert text.endswith("\n") and "\n\n" not in text
    head, *rest = text[text.index("Description:") :].splitlines()
    assert len(head) < 130
    assert all(line.startswith(" ") for line in rest)
    assert re.fullmatch(r"[^<>]+ <[^@<>]+@[^@<>]+>", deb.MAINTAINER)


def test_a_candidate_comes_before_its_release_in_debians_order() -> None:
    assert deb.debian_version(version()) == version()
    names = [deb.debian_version(text) for text in ("1.0.dev3", "1.0a1", "1.0b2", "1.0rc1", "1.0", "1.0.1")]
    assert names == ["1.0~dev3", "1.0~a1", "1.0~b2", "1.0~rc1", "1.0", "1.0.1"]


def test_the_file_is_named_as_debian_names_it() -> None:
    assert re.fullmatch(rf"gannet_{re.escape(version())}_[a-z0-9]+\.deb", deb.package().name)


def test_checksums_cover_every_file_and_no_link(tmp_path: Path) -> None:
    (tmp_path / "usr" / "bin").mkdir(parents=True)
    (tmp_path / "usr" / "bin" / "one").write_bytes(b"")
    (tmp_path / "usr" / "bin" / "two").symlink_to("one")
    assert deb.checksums(tmp_path) == "d41d8cd98f00b204e9800998ecf8427e  usr/bin/one\n"


def test_control_files_have_dpkgs_permissions_whatever_new_files_have_here(tmp_path: Path) -> None:
    (tmp_path / "stage").mkdir()
    before = os.umask(0o077)
    try:
        deb.write_control(tmp_path / "stage", {"control": "Package: gannet\n"})
    finally:
        os.umask(before)
    modes = [path.stat().st_mode & 0o777 for path in (tmp_path / "stage", *sorted((tmp_path / "stage").rglob("*")))]
    assert modes == [0o755, 0o755, 0o644]


def test_programs_are_told_by_their_first_bytes(tmp_path: Path) -> None:
    (tmp_path / "lib.so").write_bytes(b"\x7fELF\x02")
    (tmp_path / "text.so").write_bytes(b"no library")
    assert needs.programs_in(tmp_path) == [tmp_path / "lib.so"]


READELF = """
 0x0000000000000001 (NEEDED)             Shared library: [libgl.so.1]
 0x0000000000000001 (NEEDED)             Shared library: [libown.so.2]
 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]
 0x0000000000000001 (NEEDED)             Shared library: [ld-linux-x86-64.so.2]
  0x0010:   Name: GLIBC_2.9  Flags: none  Version: 3
  0x0020:   Name: GLIBC_2.34  Flags: none  Version: 2
  0x0030:   Name: GLIBCXX_3.4.29  Flags: none  Version: 4
"""


def test_what_a_bundle_needs_is_what_it_does_not_bring_and_the_newest_symbols_of_the_c_library() -> None:
    found = needs.read_needs(READELF, {"libown.so.2"})
    assert found == needs.Needs(frozenset({"libgl.so.1", "libc.so.6"}), "2.34", "3.4.29")
    owners = {"libgl.so.1": "libgl1", "libc.so.6": "libc6"}
    assert needs.debian_packages(found, owners) == ["libc6 (>= 2.34)", "libgl1"]


def test_what_only_a_gpu_library_needs_is_recommended_not_required(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gannet must start where there is no graphics driver."""
    wanted = {"libown.so": ["libother.so", "libc.so.6"], "libown-gpu.so": ["libother.so", "libdriver.so", "libown.so"]}
    (tmp_path / "gpu").mkdir()
    for place in ("libown.so", "gpu/libown-gpu.so"):
        (tmp_path / place).write_bytes(b"\x7fELF")
    version = "  0x0010:   Name: GLIBC_2.34  Flags: none\n"
    said = {name: version + "".join(f" (NEEDED)  [{one}]\n" for one in needed) for name, needed in wanted.items()}
    monkeypatch.setattr(needs, "what_readelf_says", lambda programs: "".join(said[path.name] for path in programs))
    found = needs.needs(tmp_path)
    assert sorted(found.libraries) == ["libc.so.6", "libother.so"]
    assert sorted(found.optional) == ["libdriver.so"]
    owners = {"libother.so": "other", "libc.so.6": "libc6", "libdriver.so": "libvulkan1"}
    assert needs.debian_packages(found, owners) == ["libc6 (>= 2.34)", "other"]
    assert needs.debian_recommends(found, owners) == ["libvulkan1"]


def test_a_library_that_no_package_has_ends_the_build() -> None:
    found = needs.Needs(frozenset({"libnowhere.so.1"}), "2.34", "0")
    with pytest.raises(DevError, match=r"libnowhere\.so\.1"):
        needs.debian_packages(found, {})
