# frozen_string_literal: true

require_relative "layer_table"
require_relative "object_symbols"

module Lint
  # Checks the undefined symbols of the core's objects. No object may use a symbol of Ruby or Perl. The layers base,
  # http, representation and log may use no system call. No object may use a function that depends on the locale: in
  # Turkish, "I" is not the upper case of "i". A check of the includes would not find a call of a function that the C
  # file declares itself.
  class Symbols
    HOST = /\A(rb_|ruby_|Perl_|PL_)/
    KERNEL = /\A(__errno_location|syscall|fork|socket|accept4?|bind|listen|connect|recv|recvfrom|recvmsg|send|sendto|
                 sendmsg|read|readv|pread(64)?|write|writev|pwrite(64)?|open(64)?|openat(64)?|close|fcntl(64)?|ioctl|
                 poll|ppoll|select|epoll_\w+|eventfd|timerfd_\w+|pipe2?|mmap(64)?|fopen(64)?|fread|fwrite|printf)\z/x

    LOCALE = /\A(__ctype_\w+|is(alnum|alpha|digit|lower|print|punct|space|upper|xdigit)|to(lower|upper)|strn?casecmp|
                 strcasestr|strcoll|strxfrm|strtod)\z/x

    # objects: the directory where the extension's build puts the core's object files.
    def initialize(root, objects: File.join(root, "tmp/build/bontebok"))
      @root = root
      @objects = objects
    end

    def faults
      sources = Dir.glob("**/*.c", base: File.join(@root, "core/src")).sort
      built, missing = sources.partition { |source| File.exist?(object(source)) }
      used = undefined(built.map { |source| object(source) })
      missing.map { |source| "#{source} has no object in #{@objects}" } +
        built.flat_map { |source| source_faults(source, used.fetch(object(source), [])) }
    end

    private

    def object(source)
      File.join(@objects, "#{File.basename(source, ".c")}.o")
    end

    def source_faults(source, symbols)
      pure = LayerTable::CORE[LayerTable.layer_of(source)]&.libc
      symbols.filter_map do |symbol|
        next "#{source} uses #{symbol}, of a host language" if symbol.match?(HOST)
        next "#{source} uses #{symbol}, which depends on the locale" if symbol.match?(LOCALE)

        "#{source} uses #{symbol}, of the system layer" if pure && symbol.match?(KERNEL)
      end
    end

    # Returns { object => [symbol] }. With _FORTIFY_SOURCE the symbol of read is __read_chk.
    def undefined(objects)
      symbols = ObjectSymbols.read(objects).reject { |_, _, own| own }
      symbols.group_by(&:first).transform_values do |found|
        found.map { |_, name, _| name.sub(/\A__(\w+)_chk\z/, '\1') }
      end
    end
  end
end
