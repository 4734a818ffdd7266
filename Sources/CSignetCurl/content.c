// The content codings, by zlib.
#include <stdlib.h>
#include <zlib.h>

#include "CSignetCurl.h"

struct signet_coder {
    z_stream stream;
    bool decodes;
};

signet_coder *signet_coder_new(bool decodes, bool is_gzip) {
    signet_coder *coder = calloc(1, sizeof *coder);
    if (!coder) return NULL;
    coder->decodes = decodes;
    int window = is_gzip ? 15 + 16 : 15;
    // zlib's own gzip header has no time.
    int result = decodes
        ? inflateInit2(&coder->stream, window)
        : deflateInit2(
              &coder->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
    if (result == Z_OK) return coder;
    free(coder);
    return NULL;
}

void signet_coder_free(signet_coder *coder) {
    if (coder->decodes)
        inflateEnd(&coder->stream);
    else
        deflateEnd(&coder->stream);
    free(coder);
}

bool signet_coder_reset(signet_coder *decoder) { return inflateReset(&decoder->stream) == Z_OK; }

bool signet_coder_omit_header(signet_coder *decoder) {
    return inflateReset2(&decoder->stream, -15) == Z_OK;
}

signet_coded signet_coder_run(
    signet_coder *coder, const uint8_t *bytes, size_t count, bool is_end, size_t *taken,
    uint8_t *room, size_t room_count, size_t *made) {
    z_stream *stream = &coder->stream;
    uInt in = count > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uInt)count;
    uInt out = room_count > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uInt)room_count;
    stream->next_in = (Bytef *)bytes;
    stream->avail_in = in;
    stream->next_out = room;
    stream->avail_out = out;
    int result = coder->decodes
        ? inflate(stream, Z_NO_FLUSH)
        : deflate(stream, is_end && in == count ? Z_FINISH : Z_NO_FLUSH);
    *taken = in - stream->avail_in;
    *made = out - stream->avail_out;
    switch (result) {
    case Z_STREAM_END: return SIGNET_CODED_END;
    case Z_OK:
    // There is no progress without more bytes or room.
    case Z_BUF_ERROR: return SIGNET_CODED_PART;
    case Z_MEM_ERROR: return SIGNET_CODED_NO_MEMORY;
    default: return SIGNET_CODED_BAD;
    }
}
