# One boot of the chain. What the boot left is taken first: as the state after the reboot before, and as the baseline of
# this boot. Then the operator acts, as stage.env, arrive.sh and leave.sh say, and takes the state before the next reboot.
set -u
. ./stage.env
export SNAP_STORE=/var/lib/hostsnap
export SHIV_COMPILE_PYC=false	# all at once takes minutes here; Python compiles what it imports
failed=0
ask() { "$@" || { echo "FAILED: $*" >&2; failed=1; }; }
took() { local began=$SECONDS; "$@"; local code=$?; echo "$((SECONDS - began)) s, exit $code: $*"; return $code; }
opens_all() {	# NAME: what open() says in each container, as NAME-ID
	for id in 101 102 103; do pct exec "$id" -- python3 -c "$(cat open_devices.py)" > "$RIG_RESULT/$1-$id" 2>&1; done
}
menu=5eed5eed-5eed-4eed-8eed-5eed5eed5eed
entry() { echo "gnulinux-advanced-$menu>gnulinux-$1-advanced-$menu"; }	# the menu's entry for a kernel

if [ -e snap ]; then install -m 755 snap /usr/local/bin/snap; fi
python3 tune.py read > "$RIG_RESULT/boot.json"
opens_all opens
ask took snap take post --baseline -o "$RIG_RESULT/boot.snap.toml" ${RECORD:+--record "$RIG_RESULT/boot.tar"}
. ./arrive.sh
if [ -n "${TUNE:-}" ]; then
	eval "set -- $TUNE"
	python3 tune.py set "$@"
	. ./leave.sh
	ask took snap take pre -o "$RIG_RESULT/pre.snap.toml" ${RECORD:+--record "$RIG_RESULT/pre.tar"}
	python3 tune.py read > "$RIG_RESULT/pre.json"
fi
cp -r "$RIG_RESULT"/*.snap.toml /root/
exit $failed
