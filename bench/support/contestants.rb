# frozen_string_literal: true

require "rbconfig"
require_relative "build"

module Bench
  # Who runs in bench/quick, and how each is started with one worker on one address. A peer that is not installed or
  # does not start is left out, and said.
  module Contestants
    ROOT = File.expand_path("../..", __dir__)
    APPS = File.join(ROOT, "bench/apps")
    HELLO = File.join(APPS, "hello.ru")
    Contestant = Struct.new(:name, :env, :command, keyword_init: true)

    module_function

    # address: "/path" or "127.0.0.1:PORT"; mode: :close or :kept.
    def all(address, mode)
      [floor(address, mode), core(address), *ours(address), *peers(address)]
    end

    # Those that can keep an access log, with it: on standard output, which is a file then. Ours is "combined"; that of
    # puma has about as much in it, iodine's less.
    def logging(address)
      plain = ours(address).first
      found = peers(address).to_h { |peer| [peer.name, peer] }
      [with(plain, "bontebok AccessLog", "--access-log", "-"), with(found["iodine"], "iodine -log", "-log"),
       with(found["puma"], "puma --log-requests", "--log-requests", without: "-q")]
    end

    def with(contestant, name, *options, without: nil)
      *command, app = contestant.command - [without]
      Contestant.new(name: name, env: contestant.env, command: [*command, *options, app])
    end

    def floor(address, mode)
      where = address.start_with?("/") ? "unix:#{address}" : address.split(":").last
      Contestant.new(name: "floor (C)", env: {}, command: [Build.floor, mode.to_s, where])
    end

    def core(address)
      Contestant.new(name: "bontebok's core (C)", env: {},
                     command: [Build.core_host, address.start_with?("/") ? listen(address) : address.split(":").last])
    end

    def ours(address)
      command = [*bundled, File.join(ROOT, "exe/bontebok"), "-w", "1", "-E", "production", "-l", listen(address)]
      env = Build.gems_of(File.join(ROOT, "Gemfile"))
      [Contestant.new(name: "bontebok", env: env, command: [*command, HELLO]),
       Contestant.new(name: "bontebok FrozenEnv", env: env, command: [*command, "--frozen-env", HELLO])]
    end

    def peers(address)
      port = address.split(":").last
      unix = address.start_with?("/")
      [
        peer("iodine", ["iodine", *(unix ? ["-p", "0", "-b", address] : ["-b", "127.0.0.1", "-p", port]),
                        "-w", "1", "-t", "1", HELLO]),
        peer("agoo", [RbConfig.ruby, File.join(APPS, "agoo.rb")], address),
        peer("unicorn", ["unicorn", "-E", "none", "-c", File.join(APPS, "unicorn.rb"), HELLO], address),
        peer("puma", ["puma", "-q", "-e", "production", "-w", "0", "-t", "1:1", "-b",
                      unix ? "unix://#{address}" : "tcp://#{address}", HELLO]),
        peer("rhebok", ["rackup", "-E", "none", "-s", "Rhebok", "-O", "MaxWorkers=1", "-O", "MaxRequestPerChild=0",
                        *(unix ? ["-O", "Path=#{address}"] : ["-O", "Host=127.0.0.1", "-O", "Port=#{port}"]), HELLO],
             nil, "bench/peers/rhebok/Gemfile")
      ]
    end

    def peer(name, command, listen = nil, gemfile = "bench/peers/Gemfile")
      env = { "RACK_ENV" => "production", "BENCH_LISTEN" => listen, **Build.gems_of(File.join(ROOT, gemfile)) }
      Contestant.new(name: name, env: env, command: [*bundled, *command])
    end

    def bundled = ["bundle", "exec"]
    def listen(address) = address.start_with?("/") ? "unix:#{address}" : address
  end
end
