# frozen_string_literal: true

require_relative "../system/file_name"
require_relative "../system/loopback"
require_relative "../system/runtime/control_places"
require_relative "../system/working_directory"
require_relative "sources"

module Bontebok
  # The part of Config with the defaults that depend on the system or on other options.
  module Defaults
    PORT = 9292
    # Threads of a single process in development. A page may request another page from the same server.
    DEVELOPMENT_THREADS = 3
    # Threads of a worker with Rails, and the source of this number (docs/decisions/0028-rails-has-three-threads.md).
    RAILS_THREADS = 3
    RAILS = "default for Rails"

    # Other frameworks have a file with this name, too.
    def rails?
      File.binread("config/application.rb").include?("Rails::Application")
    rescue SystemCallError
      false
    end

    # The control socket is in one of these places if the option `control` is not set and there is no directory tmp.
    def control_places
      user = begin
        account.uid
      rescue UsageError
        nil # a fault of the option `user`
      end
      ControlPlaces.new([WorkingDirectory.name, Dir.pwd], user: user, env: @env)
    end

    private

    def default_setting(option)
      return Sources::Setting.new(RAILS_THREADS, RAILS) if option.key == :threads && rails? && !one_for_development?

      Sources::Setting.new(default(option), "default")
    end

    def one_for_development? = development? && workers.zero?

    def default(option)
      case option.key
      when :listen then default_addresses
      when :tag then File.basename(Dir.pwd).b.gsub(/[^\x20-\x7e]/n, "?")
      when :control then control_default
      when :hijack_timeout then self[:graceful_timeout]
      when :max_workers, :threads, :worker_timeout then default_of_environment(option)
      else option.default
      end
    end

    def default_of_environment(option)
      case option.key
      when :max_workers then development? ? 0 : option.default
      when :threads then one_for_development? ? DEVELOPMENT_THREADS : option.default
      when :worker_timeout then development? ? 0 : 60_000
      end
    end

    # The name of the working directory can be a link (Capistrano's `current`), which leads to another release later.
    # So the default is in the directory that the link leads to now.
    def control_default
      path = FileName.absolute("tmp/bontebok.control")
      tmp? && path.bytesize <= FileName::LONGEST_SOCKET ? path : control_places.own
    end

    # Whether the user of the application can write to the directory tmp. The supervisor is root, a master is not, and
    # both must have the same default.
    def tmp?
      return false unless File.directory?("tmp")

      Process.euid.zero? ? account.act { File.writable?("tmp") } : File.writable?("tmp")
    rescue UsageError, SystemCallError
      false
    end

    def default_addresses(port = PORT)
      default_hosts.map { |host| Address.new(host: host, port: port) }
    end

    # Defaults of another server have hosts of their own.
    def default_hosts
      return @defaults[:listen].value.map(&:host) if @defaults.key?(:listen)

      development? ? Loopback.addresses : ["0.0.0.0"]
    end
  end
end
