# frozen_string_literal: true

require "rbconfig"

module Support
  # The real exe/bontebok in a process group of its own. By default it listens on a unix socket in the given directory.
  # With listen: :tcp it listens on a port of 127.0.0.1 that the kernel chooses and the log's start line names.
  class BontebokProcess < ServerProcess
    EXECUTABLE = File.expand_path("../../exe/bontebok", __dir__)

    # directory   where the rackup file and the unix socket lie; also the working directory
    # args        further arguments, before the rackup file
    # rackup      the text of config.ru; nil: there is none, or the test has written the file
    # under       a command that executes the rest of its arguments
    # listen      :unix, :tcp, or nil if args hold the addresses
    def initialize(directory, args: [], rackup: nil, listen: :unix, under: nil, **options)
      @directory = directory
      File.write(File.join(directory, "config.ru"), rackup) if rackup
      super(*under, RbConfig.ruby, EXECUTABLE, *listen_arguments(listen), *args.map(&:to_s),
            chdir: directory, **options)
    end

    private

    def listen_arguments(listen)
      case listen
      when :unix then ["-l", "unix:#{@directory}/bontebok.sock"]
      when :tcp then ["-l", "127.0.0.1:0"]
      when nil then []
      end
    end
  end
end
