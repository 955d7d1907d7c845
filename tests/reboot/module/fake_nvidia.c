// SPDX-License-Identifier: GPL-2.0
/*
 * fake_nvidia: the character devices of the NVIDIA driver and nothing behind
 * them.  open() succeeds; read() gives end of file.
 *   195 nvidia            static major, as the real driver
 *   dyn nvidia-uvm        dynamic major
 *   dyn nvidia-caps       dynamic major
 * It also binds to any PCI function of vendor 10de (see fake_gpu) under the
 * driver name "nvidia", and answers /proc/driver/nvidia/version.
 * Like the real driver it makes no /dev nodes: user space does (the rig's
 * rig-nvidia-nodes reads /proc/devices and runs mknod, as nvidia-modprobe).
 */
#include <linux/cdev.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

static int NVreg_FakeOption = 1;
module_param(NVreg_FakeOption, int, 0644);
MODULE_PARM_DESC(NVreg_FakeOption, "a parameter that can be set at load and at run time");

static int fake_open(struct inode *inode, struct file *file) { return 0; }
static ssize_t fake_read(struct file *f, char __user *b, size_t n, loff_t *o) { return 0; }
static const struct file_operations fake_fops = {
	.owner = THIS_MODULE, .open = fake_open, .read = fake_read,
};

static bool swap;
module_param(swap, bool, 0);
MODULE_PARM_DESC(swap, "nvidia-caps asks for its major first");

#define MINORS 16
struct fake_region { const char *name; dev_t dev; struct cdev cdev; bool ok; };
static struct fake_region regions[] = { { "nvidia-uvm" }, { "nvidia-caps" } };

static int version_show(struct seq_file *m, void *v)
{
	seq_puts(m, "NVRM version: NVIDIA UNIX x86_64 Kernel Module  0.0.0  fake_nvidia (no driver behind it)\n");
	return 0;
}

static int fake_probe(struct pci_dev *pdev, const struct pci_device_id *id) { return 0; }
static const struct pci_device_id fake_ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_NVIDIA, PCI_ANY_ID) }, { }
};
MODULE_DEVICE_TABLE(pci, fake_ids);
static struct pci_driver fake_driver = {
	.name = "nvidia", .id_table = fake_ids, .probe = fake_probe,
};

static void drop_regions(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(regions); i++) {
		if (!regions[i].ok)
			continue;
		cdev_del(&regions[i].cdev);
		unregister_chrdev_region(regions[i].dev, MINORS);
	}
}

static int __init fake_nvidia_init(void)
{
	int i, err;

	err = register_chrdev(195, "nvidia", &fake_fops);
	if (err < 0)
		return err;
	for (i = 0; i < ARRAY_SIZE(regions); i++) {
		struct fake_region *r = &regions[swap ? ARRAY_SIZE(regions) - 1 - i : i];

		err = alloc_chrdev_region(&r->dev, 0, MINORS, r->name);
		if (err)
			goto fail;
		cdev_init(&r->cdev, &fake_fops);
		err = cdev_add(&r->cdev, r->dev, MINORS);
		if (err) {
			unregister_chrdev_region(r->dev, MINORS);
			goto fail;
		}
		r->ok = true;
		pr_info("fake_nvidia: %s has major %d\n", r->name, MAJOR(r->dev));
	}
	err = pci_register_driver(&fake_driver);
	if (err)
		goto fail;
	proc_mkdir("driver/nvidia", NULL);
	proc_create_single("driver/nvidia/version", 0444, NULL, version_show);
	return 0;
fail:
	drop_regions();
	unregister_chrdev(195, "nvidia");
	return err;
}

static void __exit fake_nvidia_exit(void)
{
	remove_proc_subtree("driver/nvidia", NULL);
	pci_unregister_driver(&fake_driver);
	drop_regions();
	unregister_chrdev(195, "nvidia");
}

module_init(fake_nvidia_init);
module_exit(fake_nvidia_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("NVIDIA character devices without NVIDIA hardware (test rig)");
