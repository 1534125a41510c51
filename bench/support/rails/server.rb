# frozen_string_literal: true

require_relative "../build"
require_relative "../load"
require_relative "../process_group"
require_relative "commands"

module Bench
  # Servers of the Rails application in bench/apps/rails, for bench/memory, bench/rails and bench/threads.
  module RailsServer
    APP = File.join(Build::ROOT, "bench/apps/rails/app.ru")
    GEMFILE = File.join(Build::ROOT, "bench/peers/rails/Gemfile")
    BOOT_SECONDS = 60
    # Three quarters of the requests are for pages, the others for an API.
    PAGES = "/posts"
    API = ["--also", "0.25:/posts/1"].freeze

    module_function

    def prepare
      Build.run!(File.join(Build::ROOT, "bin/setup"), "--run")
      Build.bundle(GEMFILE)
    end

    # Yields the ProcessGroup and the address. name: a method of RailsCommands. waits: how much longer requests wait for
    # the database than they usually do. options: more arguments of the command. root: the checkout of Bontebok.
    def serve(name, dir, workers:, threads:, waits: 1, options: [], root: Build::ROOT)
      @number = @number.to_i + 1
      address = Load.address("unix", dir, @number)
      log = File.join(dir, "#{@number}.log")
      env = { "RACK_ENV" => "production", "RAILS_ENV" => "production", "BENCH_WAITS" => waits.to_s,
              "WEB_CONCURRENCY" => workers.to_s,
              "DATABASE_URL" => "sqlite3:#{dir}/database.sqlite3", **Build.gems_of(GEMFILE) }
      program = RailsCommands.public_send(name, address, workers, threads).map { |word| word.sub(Build::ROOT, root) }
      command = ["bundle", "exec", *program, *options, APP]
      server = ProcessGroup.new(command, env: env, address: address, core: cores, log: log)
      server.ready?(BOOT_SECONDS) || abort("#{name} does not start: #{File.read(log)}")
      yield server, address
    ensure
      server&.finish
    end

    # Starts the servers, one after the other, then calls the block. servers: { title => [name, threads, *options] }.
    # started: called with the title, the ProcessGroup and the address of each.
    def serve_all(dir, servers, started, **settings, &block)
      (title, (name, threads, *options)), *others = servers.to_a
      return yield unless title

      serve(name, dir, threads: threads, options: options, **settings) do |server, address|
        started.call(title, server, address)
        serve_all(dir, others, started, **settings, &block)
      end
    end

    # Returns the result of the load tool.
    def load(address, *arguments)
      Load.run(address, *arguments, *API, path: PAGES, core: cores)
    end

    def wait_until_ready(address)
      sleep 0.1 until Load.run(address, "-n", 1, path: "/ready", core: cores).failed.zero?
    end

    def cores = File.read("/proc/self/status")[/^Cpus_allowed_list:\s*(\S+)/, 1]

    private_class_method :cores
  end
end
