# frozen_string_literal: true

module Interop
  # The base class of the proxies' configurations. A subclass defines SITES and #command. Each site in SITES listens on
  # its own unix socket. bench/deploy uses these classes, too.
  class Proxy
    # directory: where all files of the proxy are. backend: the path of the application server's unix socket.
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

    # Writes the proxy's #configuration to a file. Returns the file's path.
    def configuration_file
      File.join(@directory, "#{self.class::PROGRAM}.conf").tap { |path| File.write(path, configuration) }
    end
  end
end
