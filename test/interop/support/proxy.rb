# frozen_string_literal: true

module Interop
  # A proxy's process. No test depends on how it ends: a proxy that is told to end while it starts may go on.
  class ProxyProcess < Support::ChildProcess
    def stop(*)
      kill
      status
    end
  end

  # A proxy with one site for each element of SITES, a constant of its class. Each site listens on a unix socket of its
  # own.
  class Proxy
    # directory: for all files of the proxy. backend: the path of the application server's unix socket.
    def initialize(directory, backend)
      @directory = directory
      @backend = backend
    end

    # { name of a site => its address }
    def entrances
      self.class::SITES.keys.each_with_index.to_h { |name, number| [name, "unix:#{socket(number)}"] }
    end

    private

    def socket(number)
      "#{@directory}/#{self.class::PROGRAM}-#{number}.sock"
    end

    # The path of a file with the proxy's #configuration.
    def configuration_file
      File.join(@directory, "#{self.class::PROGRAM}.conf").tap { |path| File.write(path, configuration) }
    end
  end
end
