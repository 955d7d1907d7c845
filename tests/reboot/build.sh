#!/bin/bash
# build.sh FOLDER: the trees that the image is made of, from Debian's mirrors, and the rig's own modules and files.
#
# Leaves FOLDER/guest, the guest's root, and FOLDER/kernels, the releases of its two kernels: bookworm's and that of
# bookworm-backports. mmdebstrap(1), debootstrap's successor, as root. Exit 3: the mirror cannot be reached.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"

# The mirrors are those that this machine's apt is set up with, else Debian's own.
uri() { apt-get indextargets --format '$(REPO_URI)' "Codename: $1" | sort -u | head -n 1; }
mirror=$(uri bookworm)
security=$(uri bookworm-security)
cat > sources.list <<-END
	deb ${mirror:=http://deb.debian.org/debian} bookworm main
	deb $mirror bookworm-updates main
	deb ${security:-http://deb.debian.org/debian-security} bookworm-security main
	deb $mirror bookworm-backports main
END
mkdir -p apt/lists/partial apt/cache/archives/partial
apt=(-o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=/dev/null
	-o Dir::State::lists="$PWD/apt/lists" -o Dir::Cache="$PWD/apt/cache" -o APT::Update::Error-Mode=any)
apt-get "${apt[@]}" update -q > apt.log 2>&1 || { tail -n 3 apt.log >&2; exit 3; }

# Both kernels' metapackages have one name, of which one can be installed: they are named by their releases.
newest() { apt-cache "${apt[@]}" show linux-image-cloud-amd64 |
	sed -n 's/^Depends: linux-image-\([^ ]*\).*/\1/p' | grep "$1" | sort -V | tail -n 1; }
kernel1=$(newest '^6\.1\.') kernel2=$(newest '+deb12-')

tree() {	# name, variant, packages...
	local name=$1 variant=$2
	shift 2
	mmdebstrap --quiet --variant="$variant" --include="$(IFS=,; echo "$*")" \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' bookworm "$name" sources.list > "$name.log" 2>&1 ||
		{ tail -n 20 "$name.log" >&2; return 1; }
}
export INITRD=No	# no initial RAM disk: both kernels have NVMe and ext4 built in
tree builder minbase gcc make libc6-dev "linux-headers-$kernel1" "linux-headers-$kernel2" &
compiling=$!
tree guest minbase systemd systemd-sysv udev dbus kmod pciutils python3 lxc iproute2 procps ethtool linux-cpupower \
	grub2-common grub-pc-bin "linux-image-$kernel1" "linux-image-$kernel2"
tree ct essential python3-minimal
wait $compiling

for release in "$kernel1" "$kernel2"; do
	mkdir -p "builder/src/$release" "guest/lib/modules/$release/extra"
	cp "$here"/module/* "builder/src/$release/"
	chroot builder make -s -C "/usr/src/linux-headers-$release" M="/src/$release" modules > modules.log 2>&1 ||
		{ cat modules.log >&2; exit 1; }
	for module in "builder/src/$release"/*.ko; do
		chroot builder strip --strip-debug "${module#builder}"
		cp "$module" "guest/lib/modules/$release/extra/"
	done
	chroot guest depmod "$release"
done

cp -a --no-preserve=ownership "$here/guest/." guest/
mv ct guest/srv/ct-rootfs
cp --no-preserve=ownership "$here/container/rig-init" guest/srv/ct-rootfs/usr/sbin/rig-init
mkdir -p guest/var/log/lxc
: > guest/etc/machine-id
echo pve-rig > guest/etc/hostname
chroot guest passwd -q -d root
chroot guest systemctl -q enable rig-hardware rig-nvidia rig-ct@101 rig-ct@102 rig-ct@103 rig-agent
chroot guest systemctl -q mask lxc-net lxc systemd-timesyncd apt-daily.timer apt-daily-upgrade.timer \
	dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap getty@tty1 serial-getty@ttyS0 systemd-logind systemd-binfmt systemd-networkd fstrim.timer 2> /dev/null

# GRUB: its first stages as grub-install makes them, its menu as update-grub will. What grub-probe(8) would say of a
# disk that is still a tree is said by a stand-in, which is there for this one call.
mkdir -p guest/boot/grub
cp -a guest/usr/lib/grub/i386-pc guest/boot/grub/
chroot guest grub-mkimage -O i386-pc -o /boot/grub/i386-pc/core.img -p '(hd0,msdos1)/boot/grub' biosdisk part_msdos ext2
mv guest/usr/sbin/grub-probe guest/usr/sbin/grub-probe.real
cp "$here/grub-probe" guest/usr/sbin/grub-probe
chroot guest update-grub 2> grub.log || { cat grub.log >&2; exit 1; }
mv guest/usr/sbin/grub-probe.real guest/usr/sbin/grub-probe
chroot guest grub-editenv /boot/grub/grubenv create
chroot guest grub-set-default "gnulinux-advanced-5eed5eed-5eed-4eed-8eed-5eed5eed5eed>gnulinux-$kernel1-advanced-5eed5eed-5eed-4eed-8eed-5eed5eed5eed"
printf '%s\n' "$kernel1" "$kernel2" > kernels
rm -rf builder apt
