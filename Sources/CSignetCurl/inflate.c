#include <stdlib.h>
#include <zlib.h>

#include "CSignetCurl.h"

struct signet_inflater {
    z_stream stream;
};

signet_inflater *signet_inflater_new(bool is_gzip) {
    signet_inflater *inflater = calloc(1, sizeof *inflater);
    if (!inflater) return NULL;
    if (inflateInit2(&inflater->stream, is_gzip ? 15 + 16 : 15) != Z_OK) {
        free(inflater);
        return NULL;
    }
    return inflater;
}

void signet_inflater_free(signet_inflater *inflater) {
    inflateEnd(&inflater->stream);
    free(inflater);
}

bool signet_inflater_reset(signet_inflater *inflater) {
    return inflateReset(&inflater->stream) == Z_OK;
}

signet_inflated signet_inflater_run(
    signet_inflater *inflater, const uint8_t *bytes, size_t count, size_t *taken, uint8_t *room,
    size_t room_count, size_t *made) {
    z_stream *stream = &inflater->stream;
    uInt in = count > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uInt)count;
    uInt out = room_count > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uInt)room_count;
    stream->next_in = (Bytef *)bytes;
    stream->avail_in = in;
    stream->next_out = room;
    stream->avail_out = out;
    int result = inflate(stream, Z_NO_FLUSH);
    *taken = in - stream->avail_in;
    *made = out - stream->avail_out;
    switch (result) {
    case Z_STREAM_END: return SIGNET_INFLATED_END;
    case Z_OK:
    case Z_BUF_ERROR: return SIGNET_INFLATED_PART;  // Z_BUF_ERROR: no progress without more bytes or room
    case Z_MEM_ERROR: return SIGNET_INFLATED_NO_MEMORY;
    default: return SIGNET_INFLATED_BAD;
    }
}
