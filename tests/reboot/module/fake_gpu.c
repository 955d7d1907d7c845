// SPDX-License-Identifier: GPL-2.0
/*
 * fake_gpu: one PCIe root port with one NVIDIA-numbered GPU under it, in a PCI
 * domain of its own, wholly in memory.  QEMU's own PCIe devices keep the
 * interesting Device Control bits read-only; here MaxReadReq, MaxPayload, ASPM
 * and so on can be written with setpci and are back at their power-on value
 * after a reboot, as on hardware.  There are no BARs.  width and speed are what
 * hardware does: /sys/module does not show them.
 *   domain 0010, 00:00.0 root port, 01:00.0 GPU
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/version.h>

static ushort gpu_id = 0x1eb8;			/* Tesla T4 in pci.ids */
module_param(gpu_id, ushort, 0444);
static ushort width = 16;
module_param(width, ushort, 0);
MODULE_PARM_DESC(width, "negotiated link width (LnkSta)");
static ushort speed = 3;
module_param(speed, ushort, 0);
MODULE_PARM_DESC(speed, "negotiated link speed (LnkSta): 1 = 2.5, 2 = 5, 3 = 8 GT/s");

#define EXP 0x40				/* PCI Express capability */
#define PM 0x80					/* power management capability */
struct fake_function { u8 cfg[4096], wmask[4096]; };
static struct fake_function port, gpu;
static struct pci_sysdata sysdata = { .domain = 0x10, .node = 0 };
static struct pci_bus *root_bus;
static struct resource bus_range = {
	.name = "fake_gpu buses", .start = 0, .end = 1, .flags = IORESOURCE_BUS,
};

static void set8(struct fake_function *f, int at, u8 v, u8 mask)
{
	f->cfg[at] = v;
	f->wmask[at] = mask;
}
static void set16(struct fake_function *f, int at, u16 v, u16 mask)
{
	set8(f, at, v, mask);
	set8(f, at + 1, v >> 8, mask >> 8);
}
static void set32(struct fake_function *f, int at, u32 v, u32 mask)
{
	set16(f, at, v, mask);
	set16(f, at + 2, v >> 16, mask >> 16);
}

static void fill(struct fake_function *f, u16 vendor, u16 device, u16 class, u8 header, u16 exp_flags)
{
	set16(f, PCI_VENDOR_ID, vendor, 0);
	set16(f, PCI_DEVICE_ID, device, 0);
	set16(f, PCI_COMMAND, 0, PCI_COMMAND_IO | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_DISABLE);
	set16(f, PCI_STATUS, PCI_STATUS_CAP_LIST, 0);
	set8(f, PCI_CLASS_REVISION, 0xa1, 0);
	set16(f, PCI_CLASS_DEVICE, class, 0);
	set8(f, PCI_CACHE_LINE_SIZE, 0, 0xff);
	set8(f, PCI_HEADER_TYPE, header, 0);
	set8(f, PCI_CAPABILITY_LIST, EXP, 0);

	set8(f, EXP + PCI_CAP_LIST_ID, PCI_CAP_ID_EXP, 0);
	set8(f, EXP + PCI_CAP_LIST_NEXT, PM, 0);
	set16(f, EXP + PCI_EXP_FLAGS, 2 | exp_flags, 0);
	/* 256-byte payloads, extended tags, role-based errors */
	set32(f, EXP + PCI_EXP_DEVCAP, PCI_EXP_DEVCAP_RBER | PCI_EXP_DEVCAP_EXT_TAG | 1, 0);
	/* power-on: MaxReadReq 512, MaxPayload 128, relaxed ordering, no snoop */
	set16(f, EXP + PCI_EXP_DEVCTL,
	      PCI_EXP_DEVCTL_READRQ_512B | PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_NOSNOOP_EN, 0x7fff);
	/* link: 8 GT/s, x16, ASPM L0s and L1 */
	set32(f, EXP + PCI_EXP_LNKCAP, 3 | (16 << 4) | (3 << 10), 0);
	set16(f, EXP + PCI_EXP_LNKCTL, 0, 0x01c3);
	set16(f, EXP + PCI_EXP_LNKSTA, speed | (width << 4) | PCI_EXP_LNKSTA_SLC, 0);
	set32(f, EXP + PCI_EXP_DEVCAP2, 0x1f, 0);
	set16(f, EXP + PCI_EXP_DEVCTL2, 0, 0x041f);
	set32(f, EXP + PCI_EXP_LNKCAP2, 0x0e, 0);
	set16(f, EXP + PCI_EXP_LNKCTL2, 3, 0x000f);

	set8(f, PM + PCI_CAP_LIST_ID, PCI_CAP_ID_PM, 0);
	set16(f, PM + PCI_PM_PMC, 3, 0);
	set16(f, PM + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET, PCI_PM_CTRL_STATE_MASK);

	set32(f, PCI_CFG_SPACE_SIZE, PCI_EXT_CAP_ID_ERR | (2 << 16), 0);	/* AER, at 0x100 */
	set32(f, PCI_CFG_SPACE_SIZE + PCI_ERR_UNCOR_MASK, 0, 0x01fff030);
	set32(f, PCI_CFG_SPACE_SIZE + PCI_ERR_UNCOR_SEVER, 0x00062030, 0x01fff030);
	set32(f, PCI_CFG_SPACE_SIZE + PCI_ERR_COR_MASK, 0x2000, 0x31c1);
}

static struct fake_function *function_at(struct pci_bus *bus, unsigned int devfn)
{
	if (devfn)
		return NULL;
	if (pci_is_root_bus(bus))
		return &port;
	return bus->number == port.cfg[PCI_SECONDARY_BUS] ? &gpu : NULL;
}

static int fake_read(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *val)
{
	struct fake_function *f = function_at(bus, devfn);
	int i;

	if (!f || where < 0 || where + size > 4096) {
		*val = ~0U;
		return PCIBIOS_DEVICE_NOT_FOUND;
	}
	for (*val = 0, i = 0; i < size; i++)
		*val |= (u32)f->cfg[where + i] << (8 * i);
	return PCIBIOS_SUCCESSFUL;
}

static int fake_write(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 val)
{
	struct fake_function *f = function_at(bus, devfn);
	int i;

	if (!f || where < 0 || where + size > 4096)
		return PCIBIOS_DEVICE_NOT_FOUND;
	for (i = 0; i < size; i++) {
		u8 m = f->wmask[where + i];

		f->cfg[where + i] = (f->cfg[where + i] & ~m) | ((val >> (8 * i)) & m);
	}
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops fake_ops = { .read = fake_read, .write = fake_write };

static int __init fake_gpu_init(void)
{
	LIST_HEAD(resources);

	/* a port of hardware: a link below QEMU's says nothing of a slot */
	fill(&port, PCI_VENDOR_ID_AMD, 0x1483, PCI_CLASS_BRIDGE_PCI, PCI_HEADER_TYPE_BRIDGE,
	     PCI_EXP_TYPE_ROOT_PORT << 4);
	set8(&port, PCI_PRIMARY_BUS, 0, 0xff);
	set8(&port, PCI_SECONDARY_BUS, 0, 0xff);
	set8(&port, PCI_SUBORDINATE_BUS, 0, 0xff);
	set16(&port, PCI_BRIDGE_CONTROL, 0, 0x0003);
	/* no I/O or memory windows: base above limit, and read-only */
	set8(&port, PCI_IO_BASE, 0xf0, 0);
	set16(&port, PCI_MEMORY_BASE, 0xfff0, 0);
	set16(&port, PCI_PREF_MEMORY_BASE, 0xfff0, 0);
	fill(&gpu, PCI_VENDOR_ID_NVIDIA, gpu_id, 0x0302, PCI_HEADER_TYPE_NORMAL,
	     PCI_EXP_TYPE_ENDPOINT << 4);
	set16(&gpu, PCI_SUBSYSTEM_VENDOR_ID, 0x1af4, 0);
	set16(&gpu, PCI_SUBSYSTEM_ID, 0x1100, 0);

	pci_add_resource(&resources, &bus_range);
	pci_lock_rescan_remove();
	root_bus = pci_create_root_bus(NULL, 0, &fake_ops, &sysdata, &resources);
	if (!root_bus) {
		pci_unlock_rescan_remove();
		pci_free_resource_list(&resources);
		return -ENODEV;
	}
	pci_scan_child_bus(root_bus);
	pci_bus_add_devices(root_bus);
	pci_unlock_rescan_remove();
	return 0;
}

static void __exit fake_gpu_exit(void)
{
	pci_lock_rescan_remove();
	pci_stop_root_bus(root_bus);
	pci_remove_root_bus(root_bus);
	pci_unlock_rescan_remove();
}

module_init(fake_gpu_init);
module_exit(fake_gpu_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A PCIe root port and GPU in memory (test rig)");
