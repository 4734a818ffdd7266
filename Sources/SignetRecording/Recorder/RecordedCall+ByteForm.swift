/// Without exchanges, which `CallContents` has.
extension RecordedCall: ByteFormed {
    static var blank: RecordedCall { RecordedCall(method: "") }

    mutating func pass(_ form: inout ByteForm) {
        form.pass(&id)
        form.pass(&service)
        form.pass(&method)
        form.pass(&path)
        form.pass(&tags)
        form.pass(&mode)
        form.pass(&started)
        form.pass(&duration)
        form.pass(&failure)
        form.pass(&message)
        form.pass(&serverCode)
        form.pass(&isSimulated)
        form.pass(&isCancelled)
        form.pass(&source)
        form.pass(&cache)
        form.pass(&joinedCall)
        form.pass(&stubs)
        form.pass(&stages)
        form.pass(&contents)
    }
}

extension RecordedCall.Stage: ByteFormed {
    static var blank: Self { .init(name: "", start: .zero, duration: .zero) }

    mutating func pass(_ form: inout ByteForm) {
        form.pass(&name)
        form.pass(&start)
        form.pass(&duration)
    }
}

extension RecordedCall.Contents: ByteFormed {
    static var blank: Self { .init(stage: "", before: nil, after: nil) }

    mutating func pass(_ form: inout ByteForm) {
        form.pass(&stage)
        form.pass(&before)
        form.pass(&after)
        form.pass(&base)
    }
}

extension RecordedCall.SignatureBase: ByteFormed {
    static var blank: Self { .init(scheme: "", keyID: "", text: "", parts: []) }

    mutating func pass(_ form: inout ByteForm) {
        form.pass(&scheme)
        form.pass(&keyID)
        form.pass(&text)
        form.pass(&parts)
    }
}

extension RecordedCall.SignatureBase.Part: ByteFormed {
    static var blank: Self { .init(name: "", value: "") }

    mutating func pass(_ form: inout ByteForm) {
        form.pass(&name)
        form.pass(&value)
    }
}
