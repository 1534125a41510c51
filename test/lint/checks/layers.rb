# frozen_string_literal: true

require "rbconfig"
require_relative "files"
require_relative "layer_table"

module Lint
  # Checks every #include and require against LayerTable.
  class Layers
    INCLUDE = /^\s*#\s*include\s+(?<kind>["<])(?<header>[^">]+)[">]/
    REQUIRE = /^\s*(?<kind>require|require_relative|autoload\s+:\w+,)\s*\(?\s*"(?<name>[^"#]+)"/

    def initialize(root)
      @root = root
    end

    def faults
      core + binding_files + load_tool + ruby
    end

    private

    def core
      each_include("core/src/**/*.{c,h}", "core/include/*.h") do |file, kind, header|
        layer = file.start_with?("core/include/") ? :base : LayerTable.layer_of(file.delete_prefix("core/src/"))
        layer ? core_fault(layer, kind, header) : "is in no layer"
      end
    end

    def core_fault(name, kind, header)
      layer = LayerTable::CORE[name]
      return if header == LayerTable::PUBLIC_HEADER || exist?("core/include/#{header}")
      return ("includes <#{header}>" unless (layer.libc || [header]).include?(header)) if kind == "<" && !host?(header)
      return "includes #{header}: the core knows no host language" if host?(header)
      return "includes #{header}, which is not the core's" unless exist?("core/src/#{header}")

      target = LayerTable.layer_of(header)
      allowed = [name, *layer.may].include?(target) && !layer.never.to_a.include?(header)
      "includes #{header} of layer #{target}" unless allowed
    end

    def binding_files
      LayerTable::BINDINGS.flat_map do |directory|
        each_include("#{directory}/**/*.{c,h,xs}") do |path, kind, header|
          next if LayerTable::WAITS_FOR_PROCESSES[path] == header

          binding_fault(directory, kind, header)
        end
      end
    end

    def binding_fault(directory, kind, header)
      return if header == LayerTable::PUBLIC_HEADER
      return ("includes <#{header}>" if LayerTable::BINDING_NEVER.include?(header)) if kind == "<"

      only = "only #{LayerTable::PUBLIC_HEADER} of the core is the binding's"
      "includes #{header}: #{only}" unless exist?("#{directory}/#{header}")
    end

    def load_tool
      each_include("load/src/**/*.{c,h}") do |_, kind, header|
        next "includes #{header}: the load tool knows no host language" if host?(header)
        next if kind == "<" || exist?("load/src/#{header}")

        layer = exist?("core/src/#{header}") && LayerTable.layer_of(header)
        "includes #{header}: not its own, nor of base or http" unless LayerTable::LOAD_MAY.include?(layer)
      end
    end

    def ruby
      misplaced + each_match("{lib,ext}/**/*.rb", REQUIRE) do |file, match|
        require_fault(file, match[:kind], match[:name])
      end
    end

    def misplaced
      Dir.glob("lib/bontebok/**/*.rb", base: @root).sort.filter_map do |file|
        layer = lib_layer(file)
        known = layer ? LayerTable::LIB.key?(layer) : LayerTable::LIB_TOP.include?(File.basename(file, ".rb"))
        "#{file} is in no layer" unless known
      end
    end

    def require_fault(file, kind, name)
      return ("requires mkmf" unless file.end_with?("extconf.rb")) if name == "mkmf"
      return relative_fault(file, name) if kind == "require_relative"
      return socket_fault(file) if name == "socket"
      return if name == LayerTable::BINDING || LayerTable::GEMS.include?(name.split("/").first)

      "requires #{name}: neither rack nor the standard library" unless own?(name) || standard?(name)
    end

    def socket_fault(file)
      "requires socket: not a file of LayerTable::SOCKET_FILES" unless LayerTable::SOCKET_FILES.match?(file)
    end

    def relative_fault(file, name)
      target = File.expand_path(name, File.dirname(File.join(@root, file)))
      return "requires #{name}, which is not there" unless File.exist?("#{target}.rb")
      return "requires #{name}, outside of lib/" unless target.start_with?(File.join(@root, "lib/"))

      "requires #{name} of layer #{lib_layer(target)}" unless lib_allowed?(lib_layer(File.join(@root, file)), target)
    end

    # Returns the directory of lib/bontebok that the file is in, or nil if the file is in no directory of lib/bontebok.
    def lib_layer(path)
      path[%r{lib/bontebok/(\w+)/}, 1]&.to_sym
    end

    def lib_allowed?(layer, target)
      wanted = lib_layer(target)
      wanted.nil? || layer.nil? || layer == wanted || LayerTable::LIB.fetch(layer).include?(wanted)
    end

    def own?(name)
      exist?("lib/#{name}.rb")
    end

    def standard?(name)
      [RbConfig::CONFIG["rubylibdir"], RbConfig::CONFIG["rubyarchdir"]].any? do |directory|
        %w[rb so].any? { |ending| File.exist?(File.join(directory, "#{name}.#{ending}")) }
      end
    end

    def host?(header)
      header.match?(LayerTable::HOST_HEADERS)
    end

    def each_include(*patterns)
      patterns.flat_map do |pattern|
        each_match(pattern, INCLUDE) { |file, match| yield file, match[:kind], match[:header] }
      end
    end

    # The block returns the text of a fault, or nil.
    def each_match(pattern, regexp)
      Files.glob(@root, pattern).flat_map do |file|
        File.readlines(File.join(@root, file), encoding: "UTF-8").each_with_index.filter_map do |line, index|
          match = regexp.match(line) or next
          fault = yield(file, match)
          "#{file}:#{index + 1} #{fault}" if fault
        end
      end
    end

    def exist?(path)
      File.exist?(File.join(@root, path))
    end
  end
end
