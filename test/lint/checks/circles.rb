# frozen_string_literal: true

require "tsort"
require_relative "layer_table"
require_relative "object_symbols"
require_relative "objects/exceptions"
require_relative "objects/ruby_tree"

module Lint
  # Reports each file of the core that calls a file of a layer above its own. Reports each circle of calls between C
  # files of the core or of ext/bontebok, and each circle of Perl modules that use each other, or of Ruby files that
  # require each other or name constants of each other. The undefined symbols of an object file are the calls of its C
  # file. PerlMap checks the calls of perl/xs.
  class Circles
    REQUIRE = /^\s*require_relative\s*\(?\s*"([^"#]+)"/
    USE = /^\s*(?:use|require)\s+([A-Z][\w:]*)/

    # Steps of circles in lib/: { "file -> file" => reason }. Without these steps there is no circle.
    LISTED = {}.freeze

    # objects: the directory where the extension's build puts the object files.
    def initialize(root, objects: File.join(root, "tmp/build/bontebok"), listed: LISTED)
      @root = root
      @objects = objects
      @listed = listed
    end

    def faults
      calls = c_calls
      upward(calls) + circles(calls.transform_values { |called| called.map(&:first) }) +
        ruby_circles(steps) + circles(uses)
    end

    private

    def upward(calls)
      calls.flat_map do |file, called|
        called.filter_map do |other, symbol|
          "#{file} calls #{symbol} of #{other}, of a layer above" unless allowed?(layer(file), layer(other))
        end
      end
    end

    def allowed?(layer, other)
      layer == other || LayerTable::CORE.fetch(layer).may.include?(other)
    end

    # Returns nil for a file of the binding.
    def layer(file)
      LayerTable.layer_of(file.delete_prefix("core/src/"))
    end

    def circles(edges)
      components(edges).map { |files| "a circle of #{files.sort.join(" ")}" }
    end

    def components(edges)
      each_child = ->(file, &block) { edges.fetch(file, []).each(&block) }
      TSort.strongly_connected_components(->(&block) { edges.each_key(&block) }, each_child)
           .select { |files| files.size > 1 }
    end

    def ruby_circles(steps)
      closed = components(steps).flat_map do |files|
        files.flat_map { |file| (steps[file] & files).map { |other| "#{file} -> #{other}" } }
      end
      circles(steps.to_h { |file, others| [file, others.reject { |other| @listed.key?("#{file} -> #{other}") }] }) +
        Exceptions.faults(@listed.slice(*closed), @listed)
    end

    # Returns { file => [[called file, symbol]] }. Both files belong to the core, or both belong to the binding.
    def c_calls
      [sources("core/src/**/*.c"), sources("ext/bontebok/**/*.c")].map { |files| calls_among(files) }.reduce(:merge)
    end

    # { object => source }
    def sources(pattern)
      Dir.glob(pattern, base: @root).sort.to_h { |file| [File.join(@objects, "#{File.basename(file, ".c")}.o"), file] }
    end

    def calls_among(files)
      defined = {}
      used = files.values.to_h { |file| [file, []] }
      ObjectSymbols.read(files.keys.select { |object| File.exist?(object) }).each do |object, name, own|
        own ? defined[name] = files[object] : used[files[object]] << name
      end
      used.to_h { |file, names| [file, names.filter_map { |name| call(file, defined[name], name) }] }
    end

    def call(file, other, name)
      [other, name] if other && other != file
    end

    def steps
      RubyTree.new(@root).dependencies.to_h do |file, others|
        names = File.read(File.join(@root, file), encoding: "UTF-8").scan(REQUIRE).flatten
        [file, others | names.map { |name| clean(File.join(File.dirname(file), "#{name}.rb")) }]
      end
    end

    def uses
      files = Dir.glob("perl/lib/**/*.pm", base: @root).sort
      files.to_h do |file|
        names = File.read(File.join(@root, file), encoding: "UTF-8").scan(USE).flatten
        [file, names.map { |name| "perl/lib/#{name.gsub("::", "/")}.pm" } & files]
      end
    end

    def clean(path)
      File.expand_path(path, "/").delete_prefix("/")
    end
  end
end
