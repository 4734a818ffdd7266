/// Makes messages of the kernel byte by byte (linux/netlink.h, linux/rtnetlink.h, linux/if_link.h),
/// in the machine's own order.
enum NetlinkBytes {
    static func half(_ value: UInt16) -> [UInt8] { [UInt8](native: value) }

    static func word(_ value: UInt32) -> [UInt8] { [UInt8](native: value) }

    /// A message of a kind, filled up to a multiple of 4 bytes.
    static func message(
        _ kind: UInt16, _ body: [UInt8], flags: UInt16 = 0, number: UInt32 = 0
    ) -> [UInt8] {
        padded(
            word(UInt32(16 + body.count)) + half(kind) + half(flags) + word(number) + word(0)
                + body)
    }

    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        padded(half(UInt16(4 + value.count)) + half(type) + value)
    }

    static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    /// RTM_NEWLINK, or with `kind` 17 RTM_DELLINK.
    static func link(
        _ index: Int32, _ name: String, hardware: UInt16 = 1, flags: UInt32 = 0x41,
        virtual: String? = nil, isWireless: Bool = false, family: UInt8 = 0, kind: UInt16 = 16
    ) -> [UInt8] {
        var body = [family, 0] + half(hardware) + word(UInt32(bitPattern: index)) + word(flags)
        body += word(0) + attribute(3, Array(name.utf8) + [0])
        if isWireless { body += attribute(11, [1, 2, 3, 4]) }
        if let virtual { body += attribute(18 | 0x8000, attribute(1, Array(virtual.utf8) + [0])) }
        return message(kind, body)
    }

    /// RTM_NEWADDR, or with `kind` 21 RTM_DELADDR.
    static func address(
        _ bytes: [UInt8], on link: Int32, scope: UInt8 = 0, flags: UInt32 = 0x80, kind: UInt16 = 20
    ) -> [UInt8] {
        let family: UInt8 = bytes.count == 4 ? 2 : 10
        return message(
            kind,
            [family, 24, 0, scope] + word(UInt32(bitPattern: link)) + attribute(1, bytes)
                + attribute(8, word(flags)))
    }

    /// RTM_NEWROUTE, or with `kind` 25 RTM_DELROUTE.
    static func route(
        by link: Int32, to destination: UInt8 = 0, metric: UInt32 = 100, table: UInt8 = 254,
        type: UInt8 = 1, gateway: [UInt8] = [192, 0, 2, 1], flags: UInt16 = 0, kind: UInt16 = 24,
        family: UInt8 = 2
    ) -> [UInt8] {
        message(
            kind,
            [family, destination, 0, 0, table, 3, 0, type] + word(0) + attribute(5, gateway)
                + attribute(4, word(UInt32(bitPattern: link))) + attribute(6, word(metric)),
            flags: flags)
    }

    /// NLMSG_DONE.
    static func done(_ number: UInt32, flags: UInt16 = 2) -> [UInt8] {
        message(3, word(0), flags: flags, number: number)
    }
}

extension [UInt8] {
    fileprivate init(native value: some FixedWidthInteger) {
        let bytes = (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        #if _endian(big)
        self = bytes.reversed()
        #else
        self = bytes
        #endif
    }
}
