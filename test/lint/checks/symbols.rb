# frozen_string_literal: true

require "open3"
require_relative "layer_table"

module Lint
  # Checks the symbols that the core's objects leave undefined: no symbol of a host language, and below the system layer
  # no symbol of the kernel. The includes alone would not show a function that is declared by hand.
  class Symbols
    HOST = /\A(rb_|ruby_|Perl_|PL_)/
    KERNEL = /\A(__errno_location|syscall|fork|socket|accept4?|bind|listen|connect|recv|recvfrom|recvmsg|send|sendto|
                 sendmsg|read|readv|pread(64)?|write|writev|pwrite(64)?|open(64)?|openat(64)?|close|fcntl(64)?|ioctl|
                 poll|ppoll|select|epoll_\w+|eventfd|timerfd_\w+|pipe2?|mmap(64)?|fopen(64)?|fread|fwrite|printf)\z/x

    # objects: the directory with the core's object files, as the extension's build leaves them.
    def initialize(root, objects: File.join(root, "tmp/build/bontebok"))
      @root = root
      @objects = objects
    end

    def faults
      sources = Dir.glob("**/*.c", base: File.join(@root, "core/src")).sort
      sources.flat_map do |source|
        object = File.join(@objects, File.basename(source).sub(/c\z/, "o"))
        File.exist?(object) ? object_faults(source, object) : ["#{source} has no object in #{@objects}"]
      end
    end

    private

    def object_faults(source, object)
      pure = LayerTable::CORE[LayerTable.layer_of(source)]&.libc
      undefined(object).filter_map do |symbol|
        next "#{source} uses #{symbol}, of a host language" if symbol.match?(HOST)

        "#{source} uses #{symbol}, of the system layer" if pure && symbol.match?(KERNEL)
      end
    end

    def undefined(object)
      names, status = Open3.capture2("nm", "--undefined-only", "--format=posix", object)
      raise "nm cannot read #{object}" unless status.success?

      # With _FORTIFY_SOURCE the symbol of read() is __read_chk().
      names.lines.map { |line| line.split.first.sub(/\A__(\w+)_chk\z/, '\1') }
    end
  end
end
