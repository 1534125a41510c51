# frozen_string_literal: true

require "rbconfig"
require_relative "build"

module Bench
  # The commands that start each server on one address. The benchmarks leave out a peer that is not installed or does
  # not start, and print a message.
  module Contestants
    ROOT = File.expand_path("../..", __dir__)
    APPS = File.join(ROOT, "bench/apps")
    HELLO = File.join(APPS, "hello.ru")
    # Servers that close every connection after its response.
    CLOSING = %w[unicorn pitchfork rhebok].freeze
    # The least possible server, in C.
    FLOOR = "floor (C)"
    Contestant = Struct.new(:name, :env, :command, keyword_init: true)

    module_function

    # address: "/path" or "127.0.0.1:PORT"; mode: :close or :kept.
    def all(address, mode)
      [floor(address, mode), core(address), *ours(address), *peers(address), agoo(address)]
    end

    # Servers that run any application with any number of workers. threads: per worker, for servers with threads.
    def fleet(address, workers, app, threads = 1)
      [ours(address, workers, app, threads).first, *peers(address, workers, app, threads)]
    end

    # app: timed.ru, because the floor in mode :timed does the work of timed.ru.
    def timed(address, workers, app) = [floor(address, :timed, workers), *fleet(address, workers, app)]

    # Our name and the names of these peers. ["none"] means no peers. An unknown name ends the program.
    def names(peers)
      ours, *known = fleet("", 1, HELLO).map(&:name)
      unknown = peers - known - ["none"]
      abort("no such peer: #{unknown.first}; there are #{known.join(', ')}") if unknown.any?
      [ours, *peers - ["none"]]
    end

    # Servers that write an access log to standard output, which is a file. Our format is "combined". Puma's format has
    # about as many fields, iodine's format fewer.
    def logging(address)
      plain = ours(address).first
      found = peers(address).to_h { |peer| [peer.name, peer] }
      [with(plain, "bontebok access_log", "--access-log", "-"), with(found["iodine"], "iodine -log", "-log"),
       with(found["puma"], "puma --log-requests", "--log-requests", without: "-q")]
    end

    def with(contestant, name, *options, without: nil)
      *command, app = contestant.command - [without]
      Contestant.new(name: name, env: contestant.env, command: [*command, *options, app])
    end

    # mode: :close, :kept, or :timed (closes each connection, and does the work of timed.ru).
    def floor(address, mode, *workers)
      Contestant.new(name: FLOOR, env: {}, command: [Build.floor, mode.to_s, place(address), *workers.map(&:to_s)])
    end

    def core(address)
      Contestant.new(name: "bontebok's core (C)", env: {}, command: [Build.core_host, place(address)])
    end

    def ours(address, workers = 1, app = HELLO, threads = 1)
      command = [*bundled, File.join(ROOT, "exe/bontebok"), "-w", workers.to_s, "-t", threads.to_s, "-E", "production",
                 "-l", listen(address)]
      env = Build.gems_of(File.join(ROOT, "Gemfile"))
      [Contestant.new(name: "bontebok", env: env, command: [*command, app]),
       Contestant.new(name: "bontebok frozen_env", env: env, command: [*command, "--frozen-env", app])]
    end

    def peers(address, workers = 1, app = HELLO, threads = 1)
      [iodine(address, workers, app, threads), puma(address, workers, app, threads),
       forking("unicorn", address, workers, app), forking("pitchfork", address, workers, app),
       itsi(address, workers, app), rhebok(address, workers, app)]
    end

    def iodine(address, workers, app, threads)
      where = unix?(address) ? ["-p", "0", "-b", address] : ["-b", "127.0.0.1", "-p", address.split(":").last]
      peer("iodine", ["iodine", *where, "-w", workers.to_s, "-t", threads.to_s, app])
    end

    # -w 0: puma without its cluster mode, for one worker.
    def puma(address, workers, app, threads)
      peer("puma", ["puma", "-q", "-e", "production", "-w", (workers > 1 ? workers : 0).to_s,
                    "-t", "#{threads}:#{threads}",
                    "-b", unix?(address) ? "unix://#{address}" : "tcp://#{address}", app])
    end

    def forking(name, address, workers, app)
      peer(name, [name, "-E", "none", "-c", File.join(APPS, "unicorn.rb"), app],
           env: { "BENCH_LISTEN" => address, "BENCH_WORKERS" => workers.to_s })
    end

    # ITSI_SERVER_PID_DIR: Itsi writes a file with its pid into this directory.
    def itsi(address, workers, app)
      peer("itsi", ["itsi", "-C", File.join(APPS, "itsi.rb"), "-w", workers.to_s, "-t", "1", "-r", app,
                    "-b", unix?(address) ? "unix://#{address}" : "http://#{address}"],
           env: { "ITSI_SERVER_PID_DIR" => File.dirname(Build.floor) }, gemfile: "bench/peers/itsi/Gemfile")
    end

    def rhebok(address, workers, app)
      host, port = address.split(":")
      where = unix?(address) ? ["-O", "Path=#{address}"] : ["-O", "Host=#{host}", "-O", "Port=#{port}"]
      peer("rhebok", ["rackup", "-E", "none", "-s", "Rhebok", "-O", "MaxWorkers=#{workers}",
                      "-O", "MaxRequestPerChild=0", *where, app], gemfile: "bench/peers/rhebok/Gemfile")
    end

    def agoo(address)
      peer("agoo", [RbConfig.ruby, File.join(APPS, "agoo.rb")], env: { "BENCH_LISTEN" => address })
    end

    def peer(name, command, env: {}, gemfile: "bench/peers/Gemfile")
      Contestant.new(name: name, command: [*bundled, *command],
                     env: { "RACK_ENV" => "production", **env, **Build.gems_of(File.join(ROOT, gemfile)) })
    end

    def bundled = ["bundle", "exec"]
    def listen(address) = unix?(address) ? "unix:#{address}" : address
    # The address in the form that the C programs take.
    def place(address) = listen(address)[/unix:.*|\d+\z/]
    def unix?(address) = address.start_with?("/")
  end
end
