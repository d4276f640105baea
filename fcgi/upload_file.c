#include "base/conf.h"
#include "data/file.h"
#include "http/multipart.h"

#include "fcgi/file_fields.h"
#include "fcgi/req.h"
#include "fcgi/upload_body.h"

int
upload_body_name(struct req *r, const struct multipart_part *part,
    char name[static FILENAME_SIZE], char mime[static MEDIATYPE_SIZE])
{
	const struct filename_raw raw = {
	    .plain = part->filename,
	    .plain_len = part->filename_len,
	    .ext = part->filename_ext,
	    .ext_len = part->filename_ext_len,
	};

	mediatype_clean(part->type, part->type_len, mime);
	if (field_name(r, "file",
		(int)filename_form(
		    &raw, mime, r->srv->conf->files_strict_names, name)))
		return (-1);
	mediatype_choose(part->type, part->type_len, name, mime);
	return (0);
}

int
upload_file_begin(struct req *r, void *cookie, const char *key, uint64_t *row)
{
	enum data_rc rc;

	(void)cookie;
	rc = file_begin(r->srv->db, &r->caller.owner, key, r->caller.now, row);
	if (rc == DATA_OK)
		return (0);
	(void)reply_data(r, rc);
	return (-1);
}

void
upload_file_drop(struct req *r, uint64_t row)
{

	file_drop(r->srv->db, row);
}
