#!/bin/bash
# build.sh FOLDER: the trees that the images are made of, from Debian's mirrors, and the rig's own modules and files.
#
# Leaves FOLDER/bookworm and FOLDER/trixie, roots of guests, and FOLDER/kernels, the releases of the two kernels that
# both have: bookworm's and that of bookworm-backports. mmdebstrap(1), debootstrap's successor, as root. Exit 3: the
# mirror cannot be reached.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"

# The mirrors are those that this machine's apt is set up with, else Debian's own.
uri() { apt-get indextargets --format '$(REPO_URI)' "Codename: $1" | sort -u | head -n 1; }
mirror=$(uri bookworm)
security=$(uri bookworm-security)
: "${mirror:=http://deb.debian.org/debian}" "${security:=http://deb.debian.org/debian-security}"
for suite in bookworm trixie; do
	cat > "$suite.list" <<-END
		deb $mirror $suite main
		deb $mirror $suite-updates main
		deb $security $suite-security main
	END
done
echo "deb $mirror bookworm-backports main" >> bookworm.list
cat bookworm.list trixie.list > sources.list
mkdir -p apt/lists/partial apt/cache/archives/partial
apt=(-o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=/dev/null
	-o Dir::State::lists="$PWD/apt/lists" -o Dir::Cache="$PWD/apt/cache" -o APT::Update::Error-Mode=any)
apt-get "${apt[@]}" update -q > apt.log 2>&1 || { tail -n 3 apt.log >&2; exit 3; }

# Both kernels' metapackages have one name, of which one can be installed: they are named by their releases.
newest() { apt-cache "${apt[@]}" show linux-image-cloud-amd64 |
	sed -n 's/^Depends: linux-image-\([^ ]*\).*/\1/p' | grep "$1" | sort -V | tail -n 1; }
kernel1=$(newest '^6\.1\.') kernel2=$(newest '+deb12-')

tree() {	# name, suite, variant, packages...
	local name=$1 suite=$2 variant=$3
	shift 3
	mmdebstrap --quiet --variant="$variant" --include="$(IFS=,; echo "$*")" \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' "$suite" "$name" "$suite.list" > "$name.log" 2>&1 ||
		{ tail -n 20 "$name.log" >&2; return 1; }
}
export INITRD=No	# no initial RAM disk: both kernels have NVMe and ext4 built in
guest=(systemd systemd-sysv udev dbus kmod pciutils python3 lxc iproute2 procps ethtool linux-cpupower
	grub2-common grub-pc-bin)
{
	tree builder bookworm minbase gcc make libc6-dev "linux-headers-$kernel1" "linux-headers-$kernel2"
	tree ct bookworm essential python3-minimal
} &
others=$!
tree bookworm bookworm minbase "${guest[@]}" "linux-image-$kernel1" "linux-image-$kernel2"
tree trixie trixie minbase "${guest[@]}"
wait $others

mkdir -p trixie/lib/modules
for release in "$kernel1" "$kernel2"; do
	mkdir -p "builder/src/$release" "bookworm/lib/modules/$release/extra"
	cp "$here"/module/* "builder/src/$release/"
	chroot builder make -s -C "/usr/src/linux-headers-$release" M="/src/$release" modules > modules.log 2>&1 ||
		{ cat modules.log >&2; exit 1; }
	for module in "builder/src/$release"/*.ko; do
		chroot builder strip --strip-debug "${module#builder}"
		cp "$module" "bookworm/lib/modules/$release/extra/"
	done
	chroot bookworm depmod "$release"
	cp -a "bookworm/lib/modules/$release" trixie/lib/modules/
	cp -a bookworm/boot/*-"$release" trixie/boot/
done

furnish() {	# tree: what is the rig's own in it, and the containers' root
	cp -a --no-preserve=ownership "$here/guest/." "$1/"
	cp -a ct "$1/srv/ct-rootfs"
	cp --no-preserve=ownership "$here/container/rig-init" "$1/srv/ct-rootfs/usr/sbin/rig-init"
	mkdir -p "$1/var/log/lxc"
	: > "$1/etc/machine-id"
	echo pve-rig > "$1/etc/hostname"
	chroot "$1" passwd -q -d root
	chroot "$1" systemctl -q enable rig-hardware rig-nvidia rig-ct@101 rig-ct@102 rig-ct@103 rig-agent
	chroot "$1" systemctl -q mask lxc-net lxc systemd-timesyncd apt-daily.timer apt-daily-upgrade.timer \
		dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap getty@tty1 serial-getty@ttyS0 systemd-logind systemd-binfmt systemd-networkd fstrim.timer 2> /dev/null
}

# GRUB: its first stages as grub-install makes them, its menu as update-grub will. What grub-probe(8) would say of a
# disk that is still a tree is said by a stand-in, which is there for this one call.
bootable() {	# tree
	local id=5eed5eed-5eed-4eed-8eed-5eed5eed5eed
	mkdir -p "$1/boot/grub"
	cp -a "$1/usr/lib/grub/i386-pc" "$1/boot/grub/"
	chroot "$1" grub-mkimage -O i386-pc -o /boot/grub/i386-pc/core.img -p '(hd0,msdos1)/boot/grub' biosdisk part_msdos ext2
	mv "$1/usr/sbin/grub-probe" "$1/usr/sbin/grub-probe.real"
	cp "$here/grub-probe" "$1/usr/sbin/grub-probe"
	chroot "$1" update-grub 2> grub.log || { cat grub.log >&2; return 1; }
	mv "$1/usr/sbin/grub-probe.real" "$1/usr/sbin/grub-probe"
	chroot "$1" grub-editenv /boot/grub/grubenv create
	chroot "$1" grub-set-default "gnulinux-advanced-$id>gnulinux-$kernel1-advanced-$id"
}
for suite in bookworm trixie; do
	furnish "$suite"
	bootable "$suite"
done
printf '%s\n' "$kernel1" "$kernel2" > kernels
rm -rf builder ct apt
