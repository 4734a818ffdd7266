#include "CFloor.h"

#include <sqlite3.h>
#include <stdlib.h>

static sqlite3 *database;
static sqlite3_stmt *statement;

int floor_row_prepare(const char *path, size_t size) {
    if (statement) return 1;
    void *bytes = calloc(1, size);
    sqlite3_stmt *insert = NULL;
    int is_ready =
        bytes && sqlite3_open(path, &database) == SQLITE_OK
        && sqlite3_exec(
               database,
               "PRAGMA journal_mode=WAL; CREATE TABLE entries(key TEXT PRIMARY KEY, bytes BLOB)",
               NULL, NULL, NULL) == SQLITE_OK
        && sqlite3_prepare_v2(
               database, "INSERT INTO entries VALUES ('a', ?)", -1, &insert, NULL) == SQLITE_OK
        && sqlite3_bind_blob(insert, 1, bytes, (int)size, SQLITE_STATIC) == SQLITE_OK
        && sqlite3_step(insert) == SQLITE_DONE
        && sqlite3_prepare_v2(
               database, "SELECT bytes FROM entries WHERE key = 'a'", -1, &statement, NULL)
            == SQLITE_OK;
    sqlite3_finalize(insert);
    free(bytes);
    return is_ready;
}

size_t floor_row_read(size_t rounds) {
    size_t count = 0;
    for (size_t i = 0; i < rounds; i++) {
        if (sqlite3_step(statement) == SQLITE_ROW)
            count += (size_t)sqlite3_column_bytes(statement, 0);
        sqlite3_reset(statement);
    }
    return count;
}
