"""What systemd, udev, cron, tuned and hooks do at boot that touches tuning, and which units failed."""

from typing import Annotated, Literal

from .base import EVIDENCE, VOLATILE, Model, Origin, field

UnitState = Literal[
    "enabled", "enabled-runtime", "linked", "linked-runtime", "masked", "masked-runtime", "static", "indirect",
    "disabled", "generated", "transient",
]


class Setting(Model):
    """A value from a configuration file."""

    value: str = field(description="value as written, blanks at the ends dropped, secrets replaced")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class TuningLine(Model):
    """A line of a script that names a tuning tool or a place below /sys or /proc that is written."""

    text: str = field(description="the line, continuations joined, blanks at the ends dropped, secrets replaced")
    tools: list[str] = field(
        description="tools it names, sorted; write: it writes below /sys or /proc; target: it names such a place for"
        " a later line"
    )
    paths: list[str] | None = field(default=None, description="paths and globs below /sys and /proc that it names, sorted")
    depends: list[str] | None = field(
        default=None, description="of a shell script: what decides whether and how often it runs: loops and conditions"
        " round it, outermost first, commands before it with && or ||, an exit above it; secrets replaced"
    )
    values: dict[str, str] | None = field(
        default=None, description="of a shell script: variables that it uses -> the word, as written, that the script"
        " gives them once above it"
    )
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands, the first line of several")


class Command(Model):
    """A command of a unit: one line Exec*= (a line with several commands is one)."""

    key: str = field(description="ExecStart, ExecStartPre, ExecStop, ...")
    text: str = field(description="the command with its prefixes (- @ : + !) as written, secrets replaced")
    tools: list[str] | None = field(default=None, description="as in a script's line; none when only its script has some")
    paths: list[str] | None = field(default=None, description="paths and globs below /sys and /proc that it names, sorted")
    scripts: list[str] | None = field(default=None, description="scripts that it calls, of those in the table scripts")
    fault: str | None = field(default=None, description="why systemd ignores the line")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class Runtime(Model):
    """What the running systemd says of a unit."""

    load: str | None = field(default=None, description="loaded, not-found, masked, bad-setting, error; missing: not in memory")
    active: str = field(description="active, inactive, failed, activating, ...; inactive when it is not in memory")
    sub: str | None = field(default=None, description="running, exited, dead, failed, waiting, ...; missing: not in memory")


class Unit(Model):
    """A unit that touches tuning, a mount or swap, or what starts such a unit."""

    file: str | None = field(default=None, description="fragment that counts; the link or empty file of a masked unit")
    drop_ins: list[str] | None = field(default=None, description="drop-in files in reading order")
    state: UnitState = field(description="as systemctl is-enabled would say, worked out from the files")
    preset: Literal["enable", "disable", "ignore"] | None = field(
        default=None, description="what systemd.preset(5) files say of it; missing for a unit that cannot be enabled"
    )
    runtime: Runtime | None = field(default=None, description="missing where systemd does not run")
    type: str | None = field(default=None, description="Type= of a service: oneshot, simple, forking, ...")
    remain_after_exit: bool | None = field(default=None, description="RemainAfterExit= of a service")
    triggers: str | None = field(default=None, description="of a timer, path or socket: the unit that it starts")
    install: list[str] | None = field(default=None, description="WantedBy=, RequiredBy= and so on of [Install], in order")
    wanted_by: list[str] | None = field(
        default=None, description="units that start it, by links in .wants, .requires and .upholds folders, sorted"
    )
    after: list[str] | None = field(default=None, description="After= of the files, sorted; default dependencies are not in it")
    before: list[str] | None = field(default=None, description="Before= of the files, sorted")
    needs: list[str] | None = field(default=None, description="Requires=, BindsTo=, Requisite= and Wants= of the files, sorted")
    conditions: list[str] | None = field(default=None, description="Condition*= and Assert*= lines in order")
    limits: dict[str, Setting] | None = field(default=None, description="LimitMEMLOCK, LimitNOFILE, LimitNPROC")
    mounts: list[str] | None = field(default=None, description="What=, Where=, Type=, Options= of a mount or swap, in order")
    commands: list[Command] | None = field(
        default=None, description="commands that touch tuning, all those of known daemons; the state says whether they run"
    )


class Script(Model):
    """A text file that a boot-time mechanism runs and that has lines which touch tuning."""

    called_by: list[str] = field(description="units, and files of cron, udev, tuned, hooks that name it, sorted")
    executable: bool | None = field(default=None, description="whether it has an x bit; /etc/rc.local needs one")
    interpreter: str | None = field(
        default=None, description="name of the program of its first line #!; empty when it has none"
    )
    lines: list[TuningLine] = field(description="lines that touch tuning, in order; all others are not recorded")


class Job(Model):
    """A line of root's crontab that touches tuning."""

    schedule: str = field(description="@reboot, or the five fields")
    text: str = field(description="the command, secrets replaced")
    tools: list[str] | None = field(default=None, description="as in a script's line")
    scripts: list[str] | None = field(default=None, description="scripts that it calls, of those in the table scripts")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class UdevRule(Model):
    """A udev rule that sets an attribute, runs a program, gives a name to a NIC or rights to an accelerator."""

    match: list[str] = field(description='its conditions in order: KERNEL=="nvidia*"')
    set: list[str] = field(description='what it does in order: MODE="0666"; secrets replaced')
    tools: list[str] | None = field(default=None, description="tools that RUN names, as in a script's line")
    scripts: list[str] | None = field(default=None, description="scripts that RUN calls, of those in the table scripts")
    jumps: list[str] | None = field(
        default=None, description="rules above it that jump past it with GOTO: the conditions of each, with commas"
    )
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands, the first line of several")


class Tmpfile(Model):
    """A line of tmpfiles.d that writes below /sys or /proc, or makes a node or link below /dev."""

    type: str = field(description="type with its modifiers: w, w+, c, b, L, w!, ...")
    argument: str | None = field(default=None, description="what is written, major:minor of a node, or target of a link")
    mode: str | None = field(default=None, description="mode field as written; missing when it is -")
    owner: str | None = field(default=None, description="user:group as written; missing when both are -")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class Tuned(Model):
    """The profile of tuned(8)."""

    active: list[str] | None = field(default=None, description="active profiles in order; empty when there is none")
    mode: str | None = field(default=None, description="manual, or auto: chosen by tuned itself")
    profiles: list[str] | None = field(default=None, description="their files with what they include, in merging order")
    missing: list[str] | None = field(default=None, description="profiles that are named and not there: tuned does not start")
    sections: dict[str, dict[str, Setting]] | None = field(
        default=None, description="the merged profile: section -> option -> value; variables stand as written"
    )
    options: dict[str, Setting] | None = field(default=None, description="tuned-main.conf")


class Limit(Model):
    """A line of limits.conf(5) for memlock or nofile."""

    domain: str = field(description="*, root, @group, %group, a range of ids; names of users are replaced by <user>")
    type: str = field(description="soft, hard, or - for both")
    item: Literal["memlock", "nofile"] = field(description="memlock in KiB, nofile a number of files")
    value: str = field(description="number, unlimited, infinity or -1")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class ProcessLimit(Model):
    """A resource limit of a running process, as proc_pid_limits(5) shows it."""

    soft: str = field(description="number, or unlimited; bytes of memlock, files of nofile")
    hard: str = field(description="number, or unlimited; bytes of memlock, files of nofile")


class Limits(Model):
    """Resource limits of sessions, of units, and of PID 1, from which what starts at boot inherits."""

    sessions: list[Limit] | None = field(default=None, description="pam_limits: limits.conf and limits.d in reading order")
    defaults: dict[str, Setting] | None = field(default=None, description="DefaultLimit*= of systemd-system.conf(5)")
    init_nofile: ProcessLimit | None = field(default=None, description="open files of PID 1")
    init_memlock: Annotated[ProcessLimit | None, VOLATILE] = field(
        default=None, description="locked memory of PID 1; systemd takes an eighth of the memory, which moves a little"
    )


class Clock(Model):
    """Whether the clock was set by time synchronisation."""

    source: Literal["systemd-timesyncd", "chrony"] = field(description="the daemon that was asked")
    synchronized: bool = field(description="of timesyncd: set once in this boot; of chrony: by leap status")


class Units(Model):
    """Failed units, and everything that sets tunables at boot."""

    failed: dict[str, Runtime] | None = field(default=None, description="failed units by name")
    units: dict[str, Unit] = field(description="units that touch tuning, by name")
    scripts: dict[str, Script] | None = field(default=None, description="by path")
    cron: dict[str, list[Job]] | None = field(default=None, description="jobs of root that touch tuning, by crontab, in order")
    udev: dict[str, list[UdevRule]] | None = field(default=None, description="by file, in order; files are read by name")
    tmpfiles: dict[str, list[Tmpfile]] | None = field(
        default=None, description="by path; the first line counts, but for w+, of which all do"
    )
    hooks: dict[str, list[str]] | None = field(default=None, description="guest configuration -> its hook scripts, in order")
    masked: dict[str, str] | None = field(default=None, description="udev or tmpfiles.d file that is not read -> what hides it")
    tuned: Tuned | None = field(default=None, description="missing when /etc/tuned is not there")
    settings: dict[str, dict[str, Setting]] | None = field(
        default=None, description="configuration files of tuning daemons: file -> variable -> value"
    )
    limits: Limits | None = field(default=None, description="resource limits")
    clock: Clock | None = field(default=None, description="missing when no daemon is known to run")
