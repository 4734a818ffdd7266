import SignetBase

/// A message of the kernel about links, addresses and default routes (rtnetlink(7), RFC 3549).
package enum NetlinkMessage: Sendable, Hashable {
    /// The change of a route.
    package enum Change: Sendable, Hashable { case added, replaced, removed }

    /// A link exists, and this is its state now.
    case link(NetworkLink)
    /// A link with this index is gone.
    case linkRemoved(Int32)
    /// A host has an address, or no longer.
    case address(NetworkAddress, isRemoved: Bool)
    /// The ways of a default route.
    case routes([DefaultRoute], Change)
    /// All entries that were asked for have been sent.
    ///
    /// - Parameter isConsistent: Whether they didn't change meanwhile.
    case done(number: UInt32, isConsistent: Bool)
    /// A question was refused, with the error's number.
    case refused(number: UInt32, Int32)
    /// Messages were lost.
    case lost
}

/// A network interface.
package struct NetworkLink: Sendable, Hashable {
    package var index: Int32
    package var name: String
    /// The hardware type (`ARPHRD_…`).
    package var hardware: UInt16
    /// The flags (`IFF_…`).
    package var flags: UInt32
    /// The kind of a virtual link, such as `veth`, `tun` or `wireguard`; nil for none.
    package var kind: String?
    /// Whether a wireless driver has sent an event of it.
    package var isWireless = false
    /// The device's type in the system's device tree, such as `wlan` or `wwan`; nil for none.
    package var deviceType: String?

    /// Creates a link.
    package init(
        index: Int32, name: String, hardware: UInt16 = 1, flags: UInt32, kind: String? = nil
    ) {
        (self.index, self.name, self.hardware) = (index, name, hardware)
        (self.flags, self.kind) = (flags, kind)
    }

    /// Whether the link was switched on.
    var isUp: Bool { flags & 0x1 != 0 }
    /// Whether it can carry data: it is on and has a carrier.
    var isRunning: Bool { flags & 0x41 == 0x41 }
    /// Whether it leads to this machine alone.
    var isLoopback: Bool { flags & 0x8 != 0 }
}

/// An address of this machine.
package struct NetworkAddress: Sendable, Hashable {
    /// `AF_INET` (2) or `AF_INET6` (10).
    package var family: UInt8
    package var link: Int32
    /// The bytes of the address.
    package var bytes: [UInt8]
    /// Whether it is good beyond its own link.
    package var isGlobal: Bool

    /// Creates an address.
    package init(family: UInt8, link: Int32, bytes: [UInt8], isGlobal: Bool) {
        (self.family, self.link, self.bytes) = (family, link, bytes)
        self.isGlobal = isGlobal
    }
}

/// A way to other networks.
package struct DefaultRoute: Sendable, Hashable {
    /// `AF_INET` (2) or `AF_INET6` (10).
    package var family: UInt8
    package var table: UInt32
    /// The lowest one is used.
    package var metric: UInt32
    package var link: Int32
    /// The bytes of the router's address; empty for none.
    package var gateway: [UInt8]

    /// Creates a route.
    package init(
        family: UInt8, table: UInt32 = 254, metric: UInt32 = 0, link: Int32, gateway: [UInt8] = []
    ) {
        (self.family, self.table, self.metric) = (family, table, metric)
        (self.link, self.gateway) = (link, gateway)
    }
}

extension NetlinkMessage {
    /// Reads the messages of a datagram. Messages of other kinds are left out, and so is one that
    /// is malformed. After a message whose length can't be right, the rest isn't read.
    package static func messages(in datagram: [UInt8]) -> [NetlinkMessage] {
        var messages: [NetlinkMessage] = []
        var rest = NativeBytes(datagram[...])
        while let length = rest.word(at: 0), length >= 16, length <= rest.count {
            let whole = rest.first(Int(length))
            if let message = NetlinkMessage(whole) { messages.append(message) }
            rest = rest.dropping(NativeBytes.aligned(Int(length)))
        }
        return messages
    }

    private init?(_ bytes: NativeBytes) {
        guard let kind = bytes.half(at: 4), let flags = bytes.half(at: 6),
            let number = bytes.word(at: 8)
        else { return nil }
        let body = bytes.dropping(16)
        switch kind {
        case 2:
            guard let code = body.word(at: 0) else { return nil }
            self = .refused(number: number, Int32(bitPattern: code))
        // NLM_F_DUMP_INTR: the entries changed while they were sent.
        // A dump that failed ends with a negative number.
        case 3:
            if let code = body.word(at: 0).map(Int32.init(bitPattern:)), code < 0 {
                self = .refused(number: number, code)
            } else {
                self = .done(number: number, isConsistent: flags & 0x10 == 0)
            }
        case 4: self = .lost
        case 16, 17:
            // A bridge tells of its ports with messages of its own family.
            guard body.byte(at: 0) == 0, let link = NetworkLink(body) else { return nil }
            self = kind == 16 ? .link(link) : .linkRemoved(link.index)
        case 20, 21:
            guard let address = NetworkAddress(body) else { return nil }
            self = .address(address, isRemoved: kind == 21)
        case 24, 25:
            guard let routes = DefaultRoute.all(body) else { return nil }
            // NLM_F_REPLACE
            self = .routes(routes, kind == 25 ? .removed : flags & 0x100 != 0 ? .replaced : .added)
        default: return nil
        }
    }
}

extension NetworkLink {
    /// Reads a `struct ifinfomsg` with its attributes.
    fileprivate init?(_ body: NativeBytes) {
        guard let hardware = body.half(at: 2), let index = body.word(at: 4),
            let flags = body.word(at: 8), let attributes = body.attributes(from: 16)
        else { return nil }
        self.init(
            index: Int32(bitPattern: index), name: "", hardware: hardware, flags: flags)
        for (type, value) in attributes {
            switch type {
            case 3: name = value.text
            case 11: isWireless = true
            case 18:
                guard let details = value.attributes(from: 0) else { return nil }
                kind = details.first { $0.type == 1 }?.value.text
            default: break
            }
        }
    }
}

extension NetworkAddress {
    /// Reads a `struct ifaddrmsg` with its attributes.
    fileprivate init?(_ body: NativeBytes) {
        guard let family = body.byte(at: 0), let few = body.byte(at: 2),
            let scope = body.byte(at: 3), let link = body.word(at: 4),
            let attributes = body.attributes(from: 8), family == 2 || family == 10
        else { return nil }
        var (address, local, flags) = ([UInt8]?.none, [UInt8]?.none, UInt32(few))
        for (type, value) in attributes {
            switch type {
            case 1: address = value.array
            case 2: local = value.array
            case 8: flags = value.word(at: 0) ?? flags
            default: break
            }
        }
        // Of a link between two points, IFA_ADDRESS is the other one's.
        guard let bytes = local ?? address, bytes.count == (family == 2 ? 4 : 16) else {
            return nil
        }
        // Tentative (0x40) addresses, and those that another machine has (0x08), aren't usable.
        self.init(
            family: family, link: Int32(bitPattern: link), bytes: bytes,
            isGlobal: scope < 253 && flags & 0x48 == 0)
    }
}

extension DefaultRoute {
    /// Reads a `struct rtmsg` with its attributes.
    ///
    /// - Returns: The ways of a default route for all hosts; nil for every other route.
    fileprivate static func all(_ body: NativeBytes) -> [DefaultRoute]? {
        guard let family = body.byte(at: 0), family == 2 || family == 10,
            // No destination, a unicast route, and none that the kernel copied (RTM_F_CLONED).
            body.byte(at: 1) == 0, body.byte(at: 7) == 1, let flags = body.word(at: 8),
            flags & 0x200 == 0, let short = body.byte(at: 4),
            let attributes = body.attributes(from: 12)
        else { return nil }
        var route = DefaultRoute(family: family, table: UInt32(short), link: 0)
        var ways: [(link: Int32, gateway: [UInt8])] = []
        for (type, value) in attributes {
            switch type {
            case 4: route.link = Int32(bitPattern: value.word(at: 0) ?? 0)
            case 5: route.gateway = value.array
            case 6: route.metric = value.word(at: 0) ?? 0
            case 9:
                guard let several = Self.ways(value) else { return nil }
                ways = several
            case 15: route.table = value.word(at: 0) ?? route.table
            default: break
            }
        }
        // The table `local` holds this machine's own addresses.
        guard route.table != 255 else { return nil }
        guard !ways.isEmpty else { return route.link > 0 ? [route] : nil }
        return ways.map { way in
            var one = route
            (one.link, one.gateway) = way
            return one
        }
    }

    /// Reads several `struct rtnexthop`.
    private static func ways(_ bytes: NativeBytes) -> [(link: Int32, gateway: [UInt8])]? {
        var ways: [(link: Int32, gateway: [UInt8])] = []
        var rest = bytes
        while rest.count > 0 {
            guard let length = rest.half(at: 0), length >= 8, length <= rest.count,
                let link = rest.word(at: 4),
                let attributes = rest.first(Int(length)).attributes(from: 8)
            else { return nil }
            let gateway: [UInt8] = attributes.first { $0.type == 5 }?.value.array ?? []
            ways.append((Int32(bitPattern: link), gateway))
            rest = rest.dropping(NativeBytes.aligned(Int(length)))
        }
        return ways
    }
}

/// Bytes with numbers in the machine's own order. What lies outside is nil.
private struct NativeBytes {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    var count: Int { bytes.count }
    var array: [UInt8] { Array(bytes) }

    /// The text before the first zero byte.
    var text: String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }

    static func aligned(_ count: Int) -> Int { (count + 3) & ~3 }

    func first(_ count: Int) -> NativeBytes { NativeBytes(bytes.prefix(count)) }

    func dropping(_ count: Int) -> NativeBytes { NativeBytes(bytes.dropFirst(count)) }

    func byte(at offset: Int) -> UInt8? {
        offset < bytes.count ? bytes[bytes.startIndex + offset] : nil
    }

    func half(at offset: Int) -> UInt16? {
        guard let low = byte(at: offset), let high = byte(at: offset + 1) else { return nil }
        return (UInt16(high) << 8 | UInt16(low)).native
    }

    func word(at offset: Int) -> UInt32? {
        guard let low = byte(at: offset), let second = byte(at: offset + 1),
            let third = byte(at: offset + 2), let high = byte(at: offset + 3)
        else { return nil }
        let value =
            UInt32(high) << 24 | UInt32(third) << 16 | UInt32(second) << 8 | UInt32(low)
        return value.native
    }

    /// Returns the attributes from an offset on; nil if one is malformed.
    func attributes(from offset: Int) -> [(type: UInt16, value: NativeBytes)]? {
        guard offset <= count else { return nil }
        var attributes: [(type: UInt16, value: NativeBytes)] = []
        var rest = dropping(offset)
        while rest.count >= 4 {
            guard let length = rest.half(at: 0), let type = rest.half(at: 2), length >= 4,
                length <= rest.count
            else { return nil }
            // Without the flags NLA_F_NESTED and NLA_F_NET_BYTEORDER.
            attributes.append((type & 0x3FFF, rest.first(Int(length)).dropping(4)))
            rest = rest.dropping(Self.aligned(Int(length)))
        }
        return attributes
    }
}

extension FixedWidthInteger {
    /// A number that was read as if its lowest byte came first, in the machine's order.
    fileprivate var native: Self {
        #if _endian(big)
        byteSwapped
        #else
        self
        #endif
    }
}
