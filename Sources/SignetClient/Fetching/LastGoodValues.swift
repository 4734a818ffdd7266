import SignetBase
import SignetCrypto
import SignetVault

/// The sealed dump in which the last good fetched values are kept.
struct LastGoodValues {
    let place: FetchPlan.StoredValues
    let schema: Schema
    let now: Int64

    /// A configuration of nothing but fetched values, and the dump it is from.
    typealias Found = (values: GlobalConfiguration, kept: FetchReport.StoredDump)

    /// Opens the dump and checks every value against today's schema.
    ///
    /// - Throws: As `DumpFile.open`; `malformed-input` if it holds values that weren't fetched.
    func read() throws(VaultError) -> Found {
        try check(open())
    }

    /// Seals values, unless the dump that is there holds the same for the same versions.
    ///
    /// - Parameter values: Nothing but fetched values.
    /// - Returns: The dump that is there now.
    /// - Throws: As `DumpFile.seal`; `wrong-app` and `malformed-input` for a dump that is another
    ///   app's or of a whole configuration, which is never replaced.
    func write(_ values: GlobalConfiguration) throws(VaultError) -> FetchReport.StoredDump {
        if let dump = try? SealedDump(contentsOf: place.file.path) {
            let id = place.sealing.binding.app.id
            guard sameBytes(dump.binding.app.id, id) else {
                throw VaultError(
                    .wrongApp, "\(place.file): the dump is another app's, so it is not replaced")
            }
            if let opened = try? open() {
                try requireFetchedOnly(opened)
                if opened.isExactVersion, let found = try? check(opened),
                    found.values.values == values.values
                {
                    return found.kept
                }
            }
        }
        let sealed = try place.file.seal(
            values, with: place.sealing.keys, keyID: place.sealing.keyID,
            for: place.sealing.binding, now: now)
        return kept(sealed)
    }

    private func open() throws(VaultError) -> OpenedDump {
        try place.file.open(
            with: place.sealing.keys, for: place.sealing.binding,
            accepting: place.acceptedAppVersions, now: now)
    }

    private func check(_ opened: OpenedDump) throws(VaultError) -> Found {
        try requireFetchedOnly(opened)
        return (try GlobalConfiguration(restoring: opened, schema: schema), kept(opened))
    }

    /// A dump of a whole configuration would bring back defaults and launch values of an earlier
    /// run.
    private func requireFetchedOnly(_ opened: OpenedDump) throws(VaultError) {
        guard opened.origins.allSatisfy({ $0.value.string == ConfigurationOrigin.fetched.rawValue })
        else {
            throw VaultError(
                .malformedInput, "\(place.file): the dump has values that weren't fetched")
        }
    }

    private func kept(_ opened: OpenedDump) -> FetchReport.StoredDump {
        FetchReport.StoredDump(
            sequence: opened.sequence, sealedAt: opened.sealedAt,
            age: UnixTime.parseRFC3339(opened.sealedAt).map { max(0, now - $0.seconds) })
    }
}
