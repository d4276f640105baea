#include <glob.h>
#include <stdio.h>

#include "jail/limits.h"
#include "jail/packages.h"

/* clang-format off */
const struct package packages[] = {
	{ "numpy", "numpy", "python3-numpy" },
	{ "pandas", "pandas", "python3-pandas" },
	{ "matplotlib", "matplotlib", "python3-matplotlib" },
	{ "scipy", "scipy", "python3-scipy" },
	{ "sklearn", "sklearn", "python3-sklearn" },
	{ "statsmodels", "statsmodels", "python3-statsmodels" },
	{ "seaborn", "seaborn", "python3-seaborn" },
	{ "openpyxl", "openpyxl", "python3-openpyxl" },
	{ "xlsxwriter", "xlsxwriter", "python3-xlsxwriter" },
	{ "xlrd", "xlrd", "python3-xlrd" },
	{ "docx", "docx", "python3-docx" },
	{ "pypdf", "pypdf", "python3-pypdf" },
	{ "reportlab", "reportlab", "python3-reportlab" },
	{ "PIL", "PIL", "python3-pil" },
	{ "cv2", "cv2*", "python3-opencv" },
	{ "bs4", "bs4", "python3-bs4" },
	{ "requests", "requests", "python3-requests" },
	{ "yaml", "yaml", "python3-yaml" },
	{ "pptx", "pptx", NULL },
	{ "pdfplumber", "pdfplumber", NULL },
	{ "pyarrow", "pyarrow", NULL },
	{ "Chinese, Japanese and Korean fonts",
	  "/usr/share/fonts/opentype/noto/NotoSansCJK*", "fonts-noto-cjk" },
	{ NULL, NULL, NULL }
};

/* Where Python finds packages. */
static const char *const places[] = {
	"/usr/lib/python3/dist-packages/",
	"/usr/local/lib/python3*/dist-packages/",
	"/usr/local/lib/python3*/site-packages/",
	"/usr/lib/python3*/site-packages/",
	NULL
};
/* clang-format on */

static int
is_there(const char *root, const char *place, const char *path)
{
	char pattern[2 * LIMITS_PATH];
	glob_t g;
	int found;

	(void)snprintf(pattern, sizeof(pattern), "%s%s%s", root, place, path);
	found = glob(pattern, GLOB_NOSORT, NULL, &g) == 0;
	globfree(&g);
	return (found);
}

int
package_is_python(const struct package *p)
{

	return (*p->path != '/');
}

int
package_is_there(const struct package *p, const char *root)
{
	size_t i;

	if (!package_is_python(p))
		return (is_there(root, "", p->path));
	for (i = 0; places[i] != NULL; i++)
		if (is_there(root, places[i], p->path))
			return (1);
	return (0);
}
