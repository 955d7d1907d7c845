// SPDX-License-Identifier: GPL-2.0
/*
 * fake_majors: stands in for "all the other drivers" that take a dynamic
 * character-device major before the NVIDIA driver does.
 *
 * Linux hands out dynamic majors from 254 down to 234, then from 511 down to
 * 384.  This module takes every free low major, then `extra` high ones, so the
 * next driver gets 511 - extra.  `extra` defaults to another value under
 * another kernel: that is the "kernel upgrade changed the load order" event.
 *   kernel < 6.2:  extra = 3  ->  the next driver gets 508
 *   kernel >= 6.2: extra = 0  ->  the next driver gets 511
 */
#include <linux/module.h>
#include <linux/fs.h>
#include <linux/version.h>

#define MAX_TAKEN 64
static int extra = LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0) ? 3 : 0;
module_param(extra, int, 0);	/* what other drivers do: /sys/module does not show it */
MODULE_PARM_DESC(extra, "how many majors of the 511..384 range to take");

static dev_t taken[MAX_TAKEN];
static int n_taken;

static void release_all(void)
{
	while (n_taken > 0)
		unregister_chrdev_region(taken[--n_taken], 1);
}

static int __init fake_majors_init(void)
{
	int high = 0;

	while (n_taken < MAX_TAKEN) {
		dev_t dev;
		int err = alloc_chrdev_region(&dev, 0, 1, "fake_other");

		if (err) {
			release_all();
			return err;
		}
		if (MAJOR(dev) > 254 && high++ >= extra) {
			unregister_chrdev_region(dev, 1);	/* one too many */
			break;
		}
		taken[n_taken++] = dev;
	}
	pr_info("fake_majors: took %d majors, %d of them high\n", n_taken, extra);
	return 0;
}

static void __exit fake_majors_exit(void) { release_all(); }

module_init(fake_majors_init);
module_exit(fake_majors_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Takes dynamic character majors (test rig)");
