# frozen_string_literal: true

require "rbconfig"

module Support
  # Runs exe/bontebok in its own process group. By default the server listens on a unix socket in the given directory.
  # With listen: :tcp the server listens on a port of 127.0.0.1. The kernel chooses the port, and the log names it.
  class BontebokProcess < ServerProcess
    # Before the first line of a rackup file, on the same line: the numbers of the other lines stay.
    LINT = 'require "rack/lint"; use Rack::Lint; '
    EXECUTABLE = File.expand_path("../../exe/bontebok", __dir__)

    # directory   where the rackup file and the unix socket lie; also the working directory
    # args        further arguments, before the rackup file; `-w 0` without `-t` gets one thread, as workers have
    # rackup      the text of config.ru; nil: the test writes the file itself or needs no file
    # lint        puts Rack::Lint in front of the application of `rackup`
    # under       a command that gets the server's command as its last arguments
    # listen      :unix, :tcp, or nil if args hold the addresses
    def initialize(directory, args: [], rackup: nil, lint: true, listen: :unix, under: nil, **options)
      @directory = directory
      File.write(File.join(directory, "config.ru"), lint ? LINT + rackup : rackup) if rackup
      super(*under, RbConfig.ruby, EXECUTABLE, *listen_arguments(listen), *thread_arguments(args.map(&:to_s)),
            chdir: directory, **options)
    end

    private

    def thread_arguments(args)
      args.each_cons(2).include?(%w[-w 0]) && !args.include?("-t") ? ["-t", "1", *args] : args
    end

    def listen_arguments(listen)
      case listen
      when :unix then ["-l", "unix:#{@directory}/bontebok.sock"]
      when :tcp then ["-l", "127.0.0.1:0"]
      when nil then []
      end
    end
  end
end
