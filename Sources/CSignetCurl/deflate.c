#include <stdlib.h>
#include <zlib.h>

#include "CSignetCurl.h"

struct signet_deflater {
    z_stream stream;
};

signet_deflater *signet_deflater_new(void) {
    signet_deflater *deflater = calloc(1, sizeof *deflater);
    if (!deflater) return NULL;
    // zlib's own gzip header has no time.
    if (deflateInit2(&deflater->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY)
        != Z_OK) {
        free(deflater);
        return NULL;
    }
    return deflater;
}

void signet_deflater_free(signet_deflater *deflater) {
    deflateEnd(&deflater->stream);
    free(deflater);
}

bool signet_deflater_run(
    signet_deflater *deflater, const uint8_t *bytes, size_t count, bool is_end, size_t *taken,
    uint8_t *room, size_t room_count, size_t *made) {
    z_stream *stream = &deflater->stream;
    uInt in = count > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uInt)count;
    uInt out = room_count > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uInt)room_count;
    stream->next_in = (Bytef *)bytes;
    stream->avail_in = in;
    stream->next_out = room;
    stream->avail_out = out;
    int result = deflate(stream, is_end && in == count ? Z_FINISH : Z_NO_FLUSH);
    *taken = in - stream->avail_in;
    *made = out - stream->avail_out;
    return result == Z_STREAM_END;
}
